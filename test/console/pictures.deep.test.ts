import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { describe, test } from 'node:test';

const root = resolve(import.meta.dirname, '../..');

describe('npm run pictures', () => {
  test('makes every picture of the documentation, from a real session', () => {
    const folder = mkdtempSync(join(tmpdir(), 'pictures-'));
    try {
      const script = join(root, 'scripts/pictures.ts');
      execFileSync(process.execPath, ['-C', 'tool-runtime-source', script, folder], { cwd: root, timeout: 300_000 });
      const made = readdirSync(folder).sort();
      assert.deepEqual(made, readdirSync(join(root, 'docs/pictures')).sort());
      for (const name of made.filter((file) => file.endsWith('.png'))) {
        const bytes = readFileSync(join(folder, name));
        assert.equal(bytes.toString('latin1', 1, 4), 'PNG');
        assert.ok(bytes.length > 10_000 && bytes.length < 200_000, `${name}: ${bytes.length} bytes`);
      }
      const cast = readFileSync(join(folder, 'session.cast'), 'utf8');
      assert.match(cast, /not inside the workspace/);
      assert.doesNotMatch(cast, /\/tmp\//);
    } finally {
      rmSync(folder, { recursive: true, force: true });
    }
  });
});
