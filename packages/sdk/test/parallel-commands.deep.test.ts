import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { openScratchRuntime } from '../src/testing/scratch-runtime.ts';

const REGISTRY =
  "version: 1\nshell_allow: ['^sleep [0-9.]+$', '^true$']\nlimits: { max_in_flight: 64, max_commands: 3 }\n";
const registry = { file: 'ops.yaml', text: REGISTRY };

describe('commands side by side', () => {
  test('fifty at once in one folder all succeed, and a read and a write in it wait for none of them', async () => {
    const { session, dispose } = await openScratchRuntime({ registry });
    const ended: string[] = [];
    const commands = Array.from({ length: 50 }, (_, nth) =>
      session.call('shell_exec', { cmd: 'sleep 0.2' }).then((answer) => {
        ended.push(`command ${nth}`);
        return answer;
      }),
    );
    const write = await session.call('file_write', { path: 'a.txt', content: 'new' });
    ended.push('write');
    const read = await session.call('file_read', { path: 'a.txt' });
    ended.push('read');
    const answers = await Promise.all(commands);
    assert.deepEqual([write.ok, read.ok], [true, true]);
    assert.deepEqual(
      answers.flatMap(({ errors }) => errors),
      [],
    );
    // Three of fifty run at a time; a read behind them would be last.
    assert.ok(ended.indexOf('read') < 25, ended.join(', '));
    await dispose();
  });

  test('sessions take turns, however many calls each has waiting', async () => {
    const { runtime, session, dispose } = await openScratchRuntime({ registry });
    const ended: string[] = [];
    const note = (name: string) => () => ended.push(name);
    const many = Array.from({ length: 12 }, () => session.call('shell_exec', { cmd: 'sleep 0.1' }).then(note('many')));
    const other = await runtime.openSession();
    await other.call('shell_exec', { cmd: 'true' }).then(note('one'));
    await Promise.all(many);
    assert.notEqual(ended.at(-1), 'one', ended.join(', '));
    await dispose();
  });

  test('a job leaves its place among the commands to others', async () => {
    const one = { file: 'ops.yaml', text: REGISTRY.replace('max_commands: 3', 'max_commands: 1') };
    const { session, dispose } = await openScratchRuntime({ registry: one });
    const started = await session.call('shell_exec', { cmd: 'sleep 600', yield_after_ms: 0 });
    assert.ok((started.data as { job?: string }).job !== undefined, JSON.stringify(started.errors));
    assert.equal((await session.call('shell_exec', { cmd: 'true' })).ok, true);
    await dispose();
  });
});
