/**
 * Tests the agent without a machine: its calls are answered from agent.cassette.jsonl. No program starts, and the agent cannot
 * change anything.
 *
 * To record again after the agent changed: RECORD=1 node --test examples/test-an-agent/agent.test.ts
 */
import assert from 'node:assert/strict';
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { test } from 'node:test';
import { createRuntime, type Runtime } from '@tool-runtime/sdk';
import { collectTodos } from './agent.ts';

const isRecording = process.env['RECORD'] === '1';

async function useRuntime<T>(use: (runtime: Runtime) => Promise<T>): Promise<T> {
  const scratch = mkdtempSync(join(tmpdir(), 'tool-runtime-agent-'));
  const workspace = join(scratch, 'workspace');
  mkdirSync(workspace);
  // Only for recording: replay needs no files.
  if (isRecording) {
    writeFileSync(join(workspace, 'a.js'), '// TODO: add up prices\n');
    writeFileSync(join(workspace, 'b.js'), 'export const b = 1; // TODO: rename\n');
  }
  const runtime = await createRuntime({
    workspace,
    state: join(scratch, 'state'),
    registry: { file: 'registry.yaml', text: 'version: 1\nshell: { mode: sandboxed }\n' },
    cassette: {
      mode: isRecording ? 'record' : 'replay',
      file: join(import.meta.dirname, 'agent.cassette.jsonl'),
    },
  });
  try {
    return await use(runtime);
  } finally {
    await runtime.close();
    rmSync(scratch, { recursive: true });
  }
}

test('the agent lists every TODO and checks the list', async () => {
  await useRuntime(async (runtime) => {
    const report = await collectTodos(await runtime.openSession({ actor: 'agent' }));
    assert.deepEqual(report, { todos: ['a.js:1 add up prices', 'b.js:1 rename'], isChecked: true });
    // Every recorded call was made.
    assert.equal(runtime.cassette()?.left, 0);
  });
});

if (!isRecording) {
  test('an agent that does something else is stopped at the first call that differs', async () => {
    await useRuntime(async (runtime) => {
      const session = await runtime.openSession({ actor: 'agent' });
      const other = await session.call('fs_delete', { path: 'a.js' });
      assert.match(other.errors[0]?.message ?? '', /call 1 \(grep\), tool: recorded "grep", now "fs_delete"/);
      assert.equal(other.ok, false);
    });
  });
}
