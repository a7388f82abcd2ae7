/** Whatever the file system refuses, and wherever it is met, a call is answered with E_FILE_IO (or policy) and a reason. */
import assert from 'node:assert/strict';
import { rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, test } from 'node:test';
import type { RuntimeParts } from '../src/session/compile-session.ts';
import { createFaults } from '../src/testing/faulty-parts.ts';
import { openScratchRuntime } from '../src/testing/scratch-runtime.ts';

const ERRNOS =
  'EACCES EPERM EROFS ENOSPC EDQUOT EMFILE ENFILE ENAMETOOLONG ELOOP EXDEV ENOTEMPTY EBUSY EIO ESTALE ETXTBSY EFBIG ENOENT ENOTDIR EISDIR EEXIST'.split(
    ' ',
  );

const CALLS: readonly (readonly [string, object])[] = [
  ['file_read', { path: 'a.txt' }],
  ['file_write', { path: 'a.txt', content: 'new' }],
  ['file_edit', { path: 'a.txt', old: 'old', new: 'new' }],
  ['file_patch', { path: 'a.txt', unified_diff: '@@ -1 +1 @@\n-old\n+new\n' }],
  ['fs_copy', { src: 'a.txt', dst: 'b.txt' }],
  ['fs_move', { src: 'a.txt', dst: 'b.txt' }],
  ['fs_delete', { path: 'a.txt' }],
  ['fs_list', { glob: '**' }],
  ['fs_stat', { path: ['a.txt', 'b.txt'] }],
  ['fs_tree', { path: '.' }],
  ['grep', { pattern: 'old' }],
];

function systemError(code: string): Error {
  return Object.assign(new Error(`${code}: refused, open '/secret/place'`), { code, errno: -1, syscall: 'open' });
}

/** Only the workspace fails: the journal is the runtime's own. */
function workspaceOnly(parts: RuntimeParts, wrapped: RuntimeParts): RuntimeParts {
  return { ...parts, workspace: wrapped.workspace };
}

describe('errors of the file system', () => {
  for (const [tool, args] of CALLS) {
    test(`at every file operation of ${tool} are no failure of the runtime`, async () => {
      const plan = { nth: 1, mode: 'once' as const, fault: (): unknown => systemError(errno) };
      const faults = createFaults(plan);
      const scratch = await openScratchRuntime({
        ports: { wrapParts: (parts) => workspaceOnly(parts, faults.wrap(parts)) },
      });
      let met = 0;
      let errno = '';
      for (errno of ERRNOS) {
        for (plan.nth = 1; ; plan.nth++) {
          rmSync(join(scratch.workspace, 'b.txt'), { force: true });
          writeFileSync(join(scratch.workspace, 'a.txt'), 'old\n');
          faults.calls.length = 0;
          faults.armed = true;
          const { ok, errors } = await scratch.session.call(tool, args as never);
          faults.armed = false;
          const at = `${errno} at ${faults.calls[plan.nth - 1]}`;
          if (faults.calls.length < plan.nth) {
            assert.ok(ok, `${tool}: ${errors[0]?.message}`);
            break;
          }
          if (ok) continue;
          met += 1;
          const [error] = errors;
          assert.notEqual(error?.code, 'E_INTERNAL', `${at}: ${error?.message}`);
          assert.doesNotMatch(JSON.stringify(errors), /secret/, at);
          assert.ok(error?.details?.['next'] !== undefined, at);
        }
      }
      await scratch.dispose();
      assert.ok(met >= ERRNOS.length, `${met} refusals`);
    });
  }
});
