/** Many processes make run folders at once in one place, with clocks that agree, collide or step back. */
import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { mkdtempSync, readdirSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { test } from 'node:test';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';

const PROCESSES = 8;
const EACH = 1250;
const CHILD = fileURLToPath(new URL('./run-folder-child.ts', import.meta.url));
const run = promisify(execFile);

for (const clock of ['fine', 'back']) {
  test(`ten thousand runs of eight processes on a ${clock} clock are apart and in order [S4-7 S4-9]`, async (t) => {
    const base = mkdtempSync(join(tmpdir(), 'run-ids-'));
    t.after(() => rmSync(base, { recursive: true, force: true }));
    const args = ['-C', 'tool-runtime-source', CHILD, base, String(EACH), clock];
    const answers = await Promise.all(
      Array.from({ length: PROCESSES }, () => run(process.execPath, args, { maxBuffer: 2 ** 24 })),
    );
    const perProcess = answers.map(({ stdout }) => stdout.split('\n'));
    for (const ids of perProcess) assert.deepEqual(ids, [...ids].sort());
    const all = perProcess.flat();
    assert.equal(new Set(all).size, PROCESSES * EACH);
    assert.deepEqual(readdirSync(join(base, 'tools/ask')).sort(), all.sort());
  });
}
