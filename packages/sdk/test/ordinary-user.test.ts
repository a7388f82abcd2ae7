/** Rights of the user count: root may do everything, so these run as a user who may not. */
import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { chownSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { test } from 'node:test';

const CHILD = new URL('./ordinary-user.ts', import.meta.url).pathname;
const NOBODY = 65534;

const START = ['file', 'read-only', 'secret', 'unreadable'];
const without = (...gone: string[]): string[] => START.filter((name) => !gone.includes(name));

/** The answer, then the names that are left. */
const EXPECTED: Record<string, readonly string[]> = {
  'remove read-only folders of our own': ['ok', ...without('read-only')],
  'copy read-only folders': ['ok', 'copy', ...START],
  'remove what cannot be looked into': ['Permission denied: unreadable', ...START],
  'copy what cannot be looked into': ['Permission denied: unreadable', ...START],
  'copy a file that cannot be read': ['Permission denied: secret', ...START],
  'move a file that cannot be read': ['ok', 'file', 'moved', 'read-only', 'unreadable'],
  'remove a file that cannot be read': ['ok', ...without('secret')],
  'move into a folder that cannot be changed': ['Permission denied: read-only/file', ...START],
  'copy into a folder that cannot be changed': ['Permission denied: read-only/file', ...START],
  'move out of a folder that cannot be changed': ['Permission denied: read-only/in', ...START],
};

test('what the user may not do is refused whole and by name, the rest is done [S0-27 S0-28 S0-29]', (t) => {
  const base = mkdtempSync(join(tmpdir(), 'ordinary-'));
  t.after(() => execFileSync('chmod', ['-R', 'u+rwx', base]) && rmSync(base, { recursive: true, force: true }));
  if (process.getuid?.() === 0) chownSync(base, NOBODY, NOBODY);
  const output = execFileSync(process.execPath, ['-C', 'tool-runtime-source', CHILD, base, String(NOBODY)], {
    encoding: 'utf8',
  });
  const { uid, report } = JSON.parse(output);
  assert.notEqual(uid, 0);
  for (const backend of ['openat2', 'walk']) {
    for (const [name, expected] of Object.entries(EXPECTED)) {
      assert.deepEqual(report[`${backend} ${name}`], expected, `${backend} ${name}`);
    }
  }
});
