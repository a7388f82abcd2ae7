/**
 * A coordinator that several runtimes can share. It grants a number of bytes and refuses writes when they are spent.
 *
 * It gets hashes, redacted summaries and paths, but no contents, unless the registry sets `coordinator.share_args`.
 */
import assert from 'node:assert/strict';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type Coordinator, createRuntime } from '@tool-runtime/sdk';

const GRANTED_BYTES = 10;

function createPurse(granted: number): Coordinator & { readonly spent: number } {
  let spent = 0;
  return {
    get spent() {
      return spent;
    },
    reserve({ mutationClass }) {
      if (mutationClass === 'read_only') return { verdict: 'allow', reason: 'purse.reading_is_free' };
      if (spent < granted) return { verdict: 'allow', reason: 'purse.granted' };
      return { verdict: 'deny', reason: 'purse.empty', message: `${spent} of ${granted} bytes are spent` };
    },
    // Called at the end of every call that was not refused.
    spend({ tool }, { bytes, status }) {
      console.log(`  spend ${tool}: ${bytes} bytes, ${status}`);
      if (tool === 'file_write') spent += bytes;
    },
  };
}

const scratch = mkdtempSync(join(tmpdir(), 'tool-runtime-coordinator-'));
const purse = createPurse(GRANTED_BYTES);
const runtime = await createRuntime({
  workspace: mkdtempSync(join(scratch, 'workspace-')),
  state: join(scratch, 'state'),
  // With `required`, the call is refused if the coordinator does not answer. Without it, the call only gets a warning.
  registry: { file: 'host.yaml', text: 'version: 1\ncoordinator: { required: [budget], timeout_ms: 500 }\n' },
  coordinator: purse,
});

try {
  const session = await runtime.openSession({ actor: 'agent-1', client: 'coordinator' });
  const write = async (path: string) => {
    const { ok, errors } = await session.call('file_write', { path, content: '7 bytes' });
    console.log(`${path} ${ok ? 'written' : `${errors[0]?.code}: ${errors[0]?.message}`}`);
    return { ok, reason: errors[0]?.details?.['reason'] };
  };

  assert.deepEqual(await write('first.txt'), { ok: true, reason: undefined });
  assert.deepEqual(await write('second.txt'), { ok: true, reason: undefined });
  assert.deepEqual(await write('third.txt'), { ok: false, reason: 'purse.empty' });
  assert.equal(purse.spent, 14);

  const read = await session.call('file_read', { path: 'first.txt' });
  assert.equal(read.ok, true);
  const missing = await session.call('file_read', { path: 'third.txt' });
  assert.equal(missing.errors[0]?.code, 'E_FILE_IO');
} finally {
  await runtime.close();
  rmSync(scratch, { recursive: true });
}
