import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { test } from 'node:test';
import fc from 'fast-check';
import type { PlannedFile } from './edit-plan.ts';
import { writeDiff } from './write-diff.ts';

function file(path: string, before: string | null, after: string | null): PlannedFile {
  return {
    path,
    before: before === null ? null : Buffer.from(before),
    after: after === null ? null : Buffer.from(after),
    sha256: null,
    edits: [],
  };
}

const diff = (before: string | null, after: string | null) => writeDiff({ files: [file('a.txt', before, after)] });

test('the diff has three lines of context and names a missing line end [S0-54]', () => {
  const lines = Array.from({ length: 12 }, (_, at) => `line ${at}\n`);
  const after = [...lines.slice(0, 5), 'new\n', ...lines.slice(6, 11), 'line 11'];
  assert.equal(
    diff(lines.join(''), after.join('')),
    '--- a/a.txt\n+++ b/a.txt\n@@ -3,10 +3,10 @@\n line 2\n line 3\n line 4\n-line 5\n+new\n line 6\n line 7\n line 8\n line 9\n' +
      ' line 10\n-line 11\n+line 11\n\\ No newline at end of file\n',
  );
});

test('new and removed files are named /dev/null on the other side', () => {
  assert.equal(diff(null, 'a\nb\n'), '--- /dev/null\n+++ b/a.txt\n@@ -0,0 +1,2 @@\n+a\n+b\n');
  assert.equal(diff('a\n', null), '--- a/a.txt\n+++ /dev/null\n@@ -1 +0,0 @@\n-a\n');
  assert.equal(diff('a\n', 'a\n'), '');
});

test('git applies every diff and gets the content that was planned', (t) => {
  const folder = mkdtempSync(join(tmpdir(), 'diff-'));
  t.after(() => rmSync(folder, { recursive: true, force: true }));
  const line = fc.constantFrom('a\n', 'b\n', 'c\n', 'same\n', '\n', 'd\r\n', ' x\n', '-\n', '+y\n');
  const text = fc
    .tuple(fc.array(line, { maxLength: 30 }), fc.constantFrom('', 'end'))
    .map(([all, end]) => all.join('') + end);
  const pairs = fc.sample(fc.tuple(text, text), { numRuns: 150, seed: 7 });
  const files = pairs.map(([before, after], at) => file(`f${at} "q".txt`, before, after));
  for (const { path, before } of files) writeFileSync(join(folder, path), before ?? '');
  const patch = writeDiff({ files });
  mkdirSync(join(folder, 'patch'));
  writeFileSync(join(folder, 'patch/all.diff'), patch);
  execFileSync('git', ['apply', '--unidiff-zero', '--whitespace=nowarn', 'patch/all.diff'], { cwd: folder });
  for (const { path, after } of files) {
    const got = existsSync(join(folder, path)) ? readFileSync(join(folder, path)) : Buffer.alloc(0);
    assert.deepEqual(got, Buffer.from(after ?? ''), path);
  }
});

test('texts that differ in very many lines are still told whole', () => {
  const [before, after] = ['a', 'b'].map((word) => Array.from({ length: 3_000 }, (_, at) => `${word}${at}\n`).join(''));
  const body = diff(before ?? '', after ?? '');
  assert.equal(body.split('\n').filter((one) => one.startsWith('-a')).length, 3_000);
  assert.equal(body.split('\n').filter((one) => one.startsWith('+b')).length, 3_000);
});
