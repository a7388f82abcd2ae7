import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { createScratch, runCli, type Scratch, startCli } from '../../../test/run-cli.ts';
import { connectStdio, isTerminal } from '../../../test/stdio-client.ts';

function connect(scratch: Scratch, ...args: string[]) {
  return connectStdio(startCli(['stdio', ...args, ...scratch.options]));
}

describe('tool-runtime stdio', () => {
  test('answers requests until stdin ends, then ends with 0 [S0-2]', async () => {
    using scratch = createScratch();
    scratch.write('a', 'text');
    using client = await connect(scratch);
    client.send(client.request('r1', 'file_read', { path: 'a' }));
    client.send(client.request('r2', 'no_such_tool', {}));
    assert.equal(await client.end(), 0);
    const answers = client.messages.map((message) =>
      message.type === 'ToolResponse' ? [message.request_id, message.ok, message.errors[0]?.code] : message,
    );
    assert.deepEqual(answers.toSorted(), [
      ['r1', true, undefined],
      ['r2', false, 'E_POLICY'],
    ]);
  });

  test('tells every change of status with --events all, and only progress otherwise [S0-5] (deep)', async () => {
    using scratch = createScratch();
    scratch.write('a', 'text');
    using all = await connect(scratch, '--events', 'all');
    all.send(all.request('r1', 'file_read', { path: 'a' }));
    await all.end();
    assert.ok(all.messages.some((message) => message.type === 'EventMessage' && message.event === 'CallStatusChanged'));
    assert.ok(isTerminal(all.messages.at(-1)!, 'r1'));
    using progress = await connect(scratch, '--events', 'progress');
    progress.send(progress.request('r1', 'file_read', { path: 'a' }));
    await progress.end();
    assert.deepEqual(
      progress.messages.map((message) => message.type),
      ['ToolResponse'],
    );
  });

  test('ends with 2 when told to send other events', async () => {
    using scratch = createScratch();
    const { code, stdout, stderr } = await runCli(['stdio', '--events', 'some', ...scratch.options]);
    assert.deepEqual([code, stdout], [2, '']);
    assert.match(stderr, /--events.*progress, all/);
  });

  test('takes the size of the largest request from the registry', async () => {
    using scratch = createScratch();
    scratch.write('tool-runtime.yaml', 'version: 1\nlimits:\n  max_request_bytes: 1024\n');
    using client = await connect(scratch);
    client.send(client.request('r1', 'file_write', { path: 'a', content: 'x'.repeat(1_100) }));
    client.send(client.request('r2', 'file_write', { path: 'a', content: 'x'.repeat(100) }));
    await client.end();
    const outcomes = client.messages.map((message) =>
      'request_id' in message ? [message.request_id, message.type] : [],
    );
    assert.deepEqual(outcomes.toSorted(), [
      ['r1', 'ErrorMessage'],
      ['r2', 'ToolResponse'],
    ]);
  });

  test('ends in order when it is told to stop (deep)', async () => {
    using scratch = createScratch();
    using client = await connect(scratch);
    client.child.kill('SIGTERM');
    assert.deepEqual(await client.closed, [0, null]);
    const { stdout } = await runCli(['audit', 'list', '--kind', 'session', '--json', ...scratch.options]);
    assert.match(stdout, /"event":"closed"/);
  });
});
