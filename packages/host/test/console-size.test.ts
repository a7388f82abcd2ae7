import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { describe, test } from 'node:test';
import { fileURLToPath } from 'node:url';
import { gzipSync } from 'node:zlib';
import { inPackage } from '../src/ops/host-version.ts';

const LIMIT = 80 * 1024;

function read(name: string): string {
  return readFileSync(fileURLToPath(inPackage(`dist/console/${name}`)), 'utf8');
}

/** The page, what it names, and what these import before they run. */
function firstLoad(): ReadonlyMap<string, string> {
  const files = new Map([['index.html', read('index.html')]]);
  for (const text of files.values()) {
    const names = [...text.matchAll(/(?:from|import)\s?"\.\/([\w-]+\.js)"|(?:src|href)="\/console\/([\w.-]+)"/g)];
    for (const [, imported, named] of names) {
      const name = imported ?? named ?? '';
      if (!files.has(name)) files.set(name, read(name));
    }
  }
  return files;
}

describe('the built console', () => {
  test('loads at first no more than 80 KB, compressed', () => {
    const files = firstLoad();
    const sizes = Array.from(files, ([name, text]) => [name, gzipSync(text, { level: 9 }).length] as const);
    const total = sizes.reduce((sum, [, size]) => sum + size, 0);
    assert.ok(files.size >= 4, [...files.keys()].join(' '));
    assert.ok(total <= LIMIT, `${total} bytes: ${JSON.stringify(sizes)}`);
  });

  test('names no other address, and holds no inline script or style', () => {
    const page = read('index.html');
    assert.doesNotMatch(page, /<style|<script(?![^>]*src=)|style=|https?:/);
  });
});
