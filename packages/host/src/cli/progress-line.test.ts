import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import type { WriteStream } from 'node:tty';
import { openScratchRuntime, wait } from '@tool-runtime/sdk/testing';
import { showProgress } from './progress-line.ts';

function createStream(isTTY: boolean) {
  const written: string[] = [];
  const stream = { isTTY, columns: 10, write: (text: string) => written.push(text) };
  return { written, stream: stream as unknown as WriteStream };
}

async function callWith(stream: WriteStream): Promise<void> {
  const scratch = await openScratchRuntime({ tools: [wait] });
  const end = showProgress(scratch.session, stream);
  await scratch.session.call('probe_wait', { ms: 1 });
  end();
  await scratch.session.call('probe_wait', { ms: 1 });
  await scratch.dispose();
}

describe('showProgress', () => {
  test('shows each step on one short line of a terminal and clears it at the end [S0-5]', async () => {
    const { stream, written } = createStream(true);
    await callWith(stream);
    assert.deepEqual(written, ['\r\u001b[K10% waiti', '\r\u001b[K90% waite', '\r\u001b[K']);
  });

  test('writes nothing where there is no terminal', async () => {
    const { stream, written } = createStream(false);
    await callWith(stream);
    assert.deepEqual(written, []);
  });
});
