import assert from 'node:assert/strict';
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { type TestContext, test } from 'node:test';
import type { AstIndex } from '../contracts/ast.ts';
import { openScratchRuntime } from '../testing/scratch-runtime.ts';

/** Notes what is asked of it and what the file holds then. */
async function scene(t: TestContext, options: Partial<AstIndex> = {}) {
  const asked: string[] = [];
  let root = '';
  const read = (path: string): string => readFileSync(join(root, path), 'utf8').trim();
  const ast: AstIndex = {
    covers: (path) => path.endsWith('.ts'),
    refresh: (changes) => void asked.push(`refresh ${changes.map(({ path }) => path).join(' ')}`),
    parseProblems: () => [],
    async watchDiagnostics(paths) {
      asked.push(`before ${paths.map((path) => `${path}=${read(path)}`).join(' ')}`);
      return async (now) => {
        asked.push(`after ${now.map((path) => `${path}=${read(path)}`).join(' ')}`);
        return [{ code: 'E_VALIDATION_FAIL', message: 'Something is new' }];
      };
    },
    ...options,
  };
  const scratch = await openScratchRuntime({ ast });
  t.after(() => scratch.dispose());
  root = scratch.workspace;
  for (const path of ['a.ts', 'b.ts', 'c.md']) writeFileSync(join(root, path), 'old\n');
  return { ...scratch, asked };
}

const edit = { old: 'old', new: 'new' };

test('running language servers are asked before and after a text is written, and the answer says what is new', async (t) => {
  const { session, asked } = await scene(t);
  const edits = ['a.ts', 'b.ts', 'c.md'].map((path) => ({ path, ...edit }));
  const { ok, warnings } = await session.call('file_edit', { edits });
  assert.ok(ok);
  assert.deepEqual(
    warnings.map(({ message }) => message),
    ['Something is new'],
  );
  assert.deepEqual(asked, ['before a.ts=old b.ts=old', 'refresh a.ts b.ts c.md', 'after a.ts=new b.ts=new c.md=new']);
});

test('they are not asked about dry runs, reads, moves and files that are no code, nor again after a refusal', async (t) => {
  const { session, asked } = await scene(t);
  await session.call('file_edit', { path: 'a.ts', ...edit, dry_run: true });
  await session.call('file_read', { path: 'a.ts' });
  await session.call('file_edit', { path: 'c.md', ...edit });
  await session.call('fs_move', { src: 'b.ts', dst: 'd.ts' });
  assert.deepEqual(
    asked.filter((one) => !one.startsWith('refresh')),
    [],
  );
  const refused = await session.call('file_edit', { path: 'a.ts', old: 'nowhere', new: 'x' });
  assert.deepEqual([refused.ok, asked.at(-1), refused.warnings], [false, 'before a.ts=old', []]);
});

test('a server that fails fails no call', async (t) => {
  const { session } = await scene(t, { watchDiagnostics: () => Promise.reject(new Error('gone')) });
  const { ok, warnings } = await session.call('file_edit', { path: 'a.ts', ...edit });
  assert.deepEqual([ok, warnings], [true, []]);
});
