/**
 * A command whose effects are looked at before they are real: the answer has the diff and a change id, the workspace stays
 * as it is, and change_apply makes exactly that real. Undo takes it back.
 *
 * Exits non-zero if a result is wrong, so that CI can run it as a test.
 */
import assert from 'node:assert/strict';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createRuntime } from '@tool-runtime/sdk';

const scratch = mkdtempSync(join(tmpdir(), 'tool-runtime-preview-'));
const workspace = mkdtempSync(join(scratch, 'workspace-'));
const file = join(workspace, 'greeting.txt');
writeFileSync(file, 'hello world\n');
const registry = { file: 'registry.yaml', text: 'version: 1\nshell: { mode: sandboxed }\neffects: preview\n' };
const runtime = await createRuntime({ workspace, state: join(scratch, 'state'), registry });

try {
  const session = await runtime.openSession({ actor: 'you', client: 'preview-a-command' });
  const preview = await session.call('shell_exec', { cmd: 'sed -i s/world/tools/ greeting.txt && echo done' });
  const { effects } = preview.data as { effects?: { total: number; diff?: string } };
  console.log(`${effects?.total} file would change:\n${effects?.diff}`);
  assert.equal(readFileSync(file, 'utf8'), 'hello world\n');

  const applied = await session.call('change_apply', { change_id: preview.change_id ?? '' });
  assert.equal(applied.ok, true);
  console.log(`after change_apply: ${readFileSync(file, 'utf8')}`);
  assert.equal(readFileSync(file, 'utf8'), 'hello tools\n');

  const undone = await session.call('change_undo', { change_id: applied.change_id ?? '' });
  assert.equal(undone.ok, true);
  assert.equal(readFileSync(file, 'utf8'), 'hello world\n');
} finally {
  await runtime.close();
  rmSync(scratch, { recursive: true });
}
