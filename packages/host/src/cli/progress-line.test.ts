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

/** Longer than any test. */
const FOREVER_MS = 2 ** 31 - 1;

async function callWith(stream: WriteStream): Promise<void> {
  const scratch = await openScratchRuntime({ tools: [wait] });
  const end = showProgress(scratch.session, stream, FOREVER_MS);
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

  test('says how long a silent call has been at work', async () => {
    const { stream, written } = createStream(true);
    const shown = Promise.withResolvers<void>();
    const watched = {
      ...stream,
      isTTY: true,
      columns: 40,
      write: (text: string) => shown.resolve(void written.push(text)),
    };
    const end = showProgress({ listen: () => () => {} }, watched as unknown as WriteStream, 1);
    // The timer does not keep the process alive, so the test has to.
    const awake = setInterval(() => {}, 1000);
    await shown.promise;
    clearInterval(awake);
    end();
    assert.match(written[0] ?? '', /working, \d+ s$/);
    assert.equal(written.at(-1), '\r\u001b[K');
  });

  test('writes nothing where there is no terminal', async () => {
    const { stream, written } = createStream(false);
    await callWith(stream);
    assert.deepEqual(written, []);
  });
});
