/**
 * Several calls that become real together or not at all: edits and a command in one transaction, checked by the registry's
 * test command before anything of it is real. A batch can be one transaction too.
 *
 * Exits non-zero if a result is wrong, so that CI can run it as a test.
 */
import assert from 'node:assert/strict';
import { mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createRuntime } from '@tool-runtime/sdk';

const scratch = mkdtempSync(join(tmpdir(), 'tool-runtime-transaction-'));
const workspace = mkdtempSync(join(scratch, 'workspace-'));
const read = (name: string) => readFileSync(join(workspace, name), 'utf8');
writeFileSync(join(workspace, 'price.txt'), '100\n');
writeFileSync(join(workspace, 'total.txt'), '200\n');
const text = 'version: 1\nshell: { mode: sandboxed }\ncommands: { test: grep -q 300 total.txt }\n';
const runtime = await createRuntime({
  workspace,
  state: join(scratch, 'state'),
  registry: { file: 'registry.yaml', text },
});

try {
  const session = await runtime.openSession({ actor: 'you', client: 'all-or-nothing' });
  const began = await session.call('tx_begin', {});
  assert.ok(began.ok);
  console.log(`began ${began.data.tx_id}`);
  await session.call('file_write', { path: 'price.txt', content: '150\n' });

  // The test command wants a new total, so nothing is committed yet.
  const early = await session.call('tx_commit', {});
  console.log(`too early: ${early.errors[0]?.message}`);
  assert.equal(early.ok, false);
  assert.equal(read('price.txt'), '100\n');

  // A command of the transaction sees what the edit before it wrote.
  const doubled = await session.call('shell_exec', { cmd: 'expr 2 "*" $(cat price.txt) > total.txt' });
  assert.equal(doubled.ok, true);
  const committed = await session.call('tx_commit', {});
  assert.ok(committed.ok);
  const { paths, checked } = committed.data;
  console.log(`committed ${paths.map(({ path }) => path).join(' and ')}, checked by commands.${checked.join(', ')}`);
  assert.deepEqual([read('price.txt'), read('total.txt')], ['150\n', '300\n']);

  // The same for a batch: its second call fails, so the first leaves nothing behind.
  const answers = await session.batch(
    [
      { tool: 'file_write', args: { path: 'note.txt', content: 'new\n' } },
      { tool: 'file_edit', args: { path: 'missing.txt', edits: [{ old: 'a', new: 'b' }] } },
    ],
    { atomic: true },
  );
  console.log(`batch: ${answers.map(({ ok, errors }) => (ok ? 'ok' : errors[0]?.message)).join(' | ')}`);
  assert.deepEqual(readdirSync(workspace), ['price.txt', 'total.txt']);

  // One undo takes back the whole transaction.
  await session.call('change_undo', { change_id: committed.change_id ?? '' });
  assert.deepEqual([read('price.txt'), read('total.txt')], ['100\n', '200\n']);
} finally {
  await runtime.close();
  rmSync(scratch, { recursive: true });
}
