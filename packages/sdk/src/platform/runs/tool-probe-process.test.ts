import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { tmpdir } from 'node:os';
import { describe, test } from 'node:test';
import { isToolError } from '@tool-runtime/protocol';
import { type ProbeStart, startToolProbe } from './tool-probe-process.ts';

/** Starts a shell with this text. Every probe has a mark of its own. */
function probe(script: string, options: Partial<ProbeStart> = {}) {
  const mark = `probe-${process.pid}-${performance.now()}`;
  return startToolProbe({
    words: ['/bin/sh', '-c', script],
    folder: tmpdir(),
    variables: { PATH: '/usr/bin:/bin', PROBE_MARK: mark },
    stdin: 'empty',
    timeoutMs: 120_000,
    mark,
    ...options,
  });
}

function isRunning(text: string): boolean {
  return spawnSync('ps', ['-eo', 'args'], { encoding: 'utf8' }).stdout.includes(text);
}

describe('one start of a checked program', () => {
  test('answers exit code and both streams, with the given variables and no others', async () => {
    const end = await probe('env; echo oops >&2; exit 7');
    assert.deepEqual([end.exitCode, end.endedBy, end.isOverdue, end.leftRunning], [7, null, false, []]);
    const names = end.stdout.bytes
      .toString('utf8')
      .trim()
      .split('\n')
      .map((line) => line.split('=')[0]);
    assert.deepEqual(names.filter((name) => name !== '_').sort(), ['PATH', 'PROBE_MARK', 'PWD']);
    assert.equal(end.stderr.bytes.toString('utf8'), 'oops\n');
  });

  test('keeps the first MiB of a flood and counts all of it', async () => {
    const end = await probe('head -c 5000000 /dev/zero');
    assert.deepEqual([end.exitCode, end.stdout.bytes.length, end.stdout.total], [0, 1024 * 1024, 5_000_000]);
  });

  test('gives empty input, or none at all', async () => {
    const empty = await probe('cat; echo $?');
    assert.equal(empty.stdout.bytes.toString('utf8'), '0\n');
    const closed = await probe('cat; echo $?', { stdin: 'closed' });
    assert.equal(closed.stdout.bytes.toString('utf8'), '1\n');
  });

  test('kills what does not end in time, with its children [S4-47]', async () => {
    const end = await probe('sleep 7201 & sleep 7201', { timeoutMs: 200 });
    assert.deepEqual([end.isOverdue, end.endedBy], [true, 'SIGKILL']);
    assert.ok(!isRunning('sleep 7201'));
  });

  test('asks first when told to, and kills who does not listen [S4-47]', async () => {
    const terminate = { afterMs: 300, graceMs: 5000 };
    const polite = await probe('trap "exit 3" TERM; while :; do sleep 0.05; done', { terminate });
    assert.deepEqual([polite.exitCode, polite.wasAsked, polite.isOverdue], [3, true, false]);
    const deaf = await probe('trap "" TERM; while :; do sleep 0.05; done', {
      terminate: { ...terminate, graceMs: 300 },
    });
    assert.deepEqual([deaf.endedBy, deaf.wasAsked, deaf.isOverdue], ['SIGKILL', true, true]);
    const quick = await probe('exit 0', { terminate });
    assert.deepEqual([quick.exitCode, quick.wasAsked], [0, false]);
  });

  test('names and kills what was left running, also outside the group (deep)', async () => {
    const inside = await probe('sleep 7202 & exit 0');
    assert.deepEqual(inside.leftRunning, ['sleep']);
    const outside = await probe('setsid sleep 7203 & exit 0');
    assert.deepEqual(outside.leftRunning, ['sleep']);
    assert.ok(!isRunning('sleep 7202') && !isRunning('sleep 7203'));
  });

  test('waits for a child that is about to end', async () => {
    const end = await probe('sleep 0.1 & exit 0');
    assert.deepEqual(end.leftRunning, []);
  });

  test('stops when it is cancelled, before and during', async () => {
    const isCancelled = (thrown: unknown) => isToolError(thrown) && thrown.details['reason'] === 'cancelled';
    await assert.rejects(probe('exit 0', { signal: AbortSignal.abort() }), isCancelled);
    await assert.rejects(probe('sleep 7204', { signal: AbortSignal.timeout(200) }), isCancelled);
    assert.ok(!isRunning('sleep 7204'));
  });

  test('says when a program cannot be started', async () => {
    const words = ['/nowhere/program'] as const;
    await assert.rejects(
      probe('', { words: [...words] }),
      (thrown) => isToolError(thrown) && thrown.code === 'E_SHELL',
    );
  });
});
