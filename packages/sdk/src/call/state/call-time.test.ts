import assert from 'node:assert/strict';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, test } from 'node:test';
import { setTimeout as pause } from 'node:timers/promises';
import { ToolError } from '@tool-runtime/protocol';
import { z } from 'zod';
import { defineTool, type ToolContext } from '../../contracts/tool.ts';
import { createCounter } from '../../testing/probe-tools.ts';
import { openScratchRuntime } from '../../testing/scratch-runtime.ts';
import { CallTime } from './call-time.ts';

const never = new Promise<never>(() => {});
const tick = () => new Promise((resolve) => setImmediate(resolve));

describe('the time of a call', () => {
  test('ends a stage that ignores its signal, with what it waited for', async () => {
    const time = new CallTime({ tool: 'file_write', timeoutMs: 10 });
    await assert.rejects(async () => time.wait('budget', () => never), {
      code: 'E_TIMEOUT',
      message: 'Call took longer than 10 ms: file_write (it waited for a budget)',
    });
    assert.equal(time.signal.aborted, true);
    assert.throws(() => time.wait('locks', () => 1), { code: 'E_TIMEOUT' });
    // What has to be done in any case is still done.
    assert.equal(await time.wait('record', async () => 'recorded'), 'recorded');
  });

  test('passes on the late result of an abandoned stage, so that it can be given back', async () => {
    const time = new CallTime({ tool: 'file_write' });
    const lock = Promise.withResolvers<string>();
    const late: string[] = [];
    const waiting = time.wait(
      'locks',
      () => lock.promise,
      (value) => late.push(value),
    );
    time.abort(new ToolError('E_INTERNAL', 'Call was cancelled', { details: { reason: 'cancelled' } }));
    await assert.rejects(async () => waiting, { message: 'Call was cancelled' });
    lock.resolve('lock');
    await tick();
    assert.deepEqual(late, ['lock']);
  });

  test('does not count the commit gate in the own limit of a verb, but in one that the caller set', async () => {
    const time = new CallTime({ tool: 'git_commit' });
    time.limit(10, 60_000);
    assert.equal(await time.wait('commitGate', async () => pause(50).then(() => 'built')), 'built');
    assert.equal(time.reason, undefined);
    await assert.rejects(async () => time.wait('tool', () => never), { code: 'E_TIMEOUT' });
    const asked = new CallTime({ tool: 'git_commit', timeoutMs: 10 });
    asked.limit(30_000, 60_000);
    await assert.rejects(async () => asked.wait('commitGate', () => never), { code: 'E_TIMEOUT' });
  });

  test('does not count the time a person takes, as far as the limit of the question goes (deep)', async () => {
    const time = new CallTime({ tool: 'file_write', timeoutMs: 3_000 });
    void Promise.resolve(time.wait('budget', () => never)).catch(() => {});
    time.askPerson(60_000);
    await pause(3_200);
    assert.equal(time.reason, undefined);
    time.personAnswered();
    await pause(50);
    assert.equal(time.reason, undefined, 'its own time still runs');
    time.end();
    const short = new CallTime({ tool: 'file_write', timeoutMs: 10 });
    const waiting = short.wait('approval', () => never);
    short.askPerson(10);
    await assert.rejects(async () => waiting, { code: 'E_TIMEOUT' });
  });

  test('a lock that comes after the call was answered goes back at once', async () => {
    const granted = Promise.withResolvers<void>();
    let isReleased = false;
    const asked = Promise.withResolvers<void>();
    const { session, dispose } = await openScratchRuntime({
      ports: {
        wrapParts: (parts) => ({
          ...parts,
          locks: {
            ...parts.locks,
            async acquire() {
              asked.resolve();
              await granted.promise;
              return () => {
                isReleased = true;
              };
            },
          },
        }),
      },
    });
    const cancel = new AbortController();
    const answer = session.call('file_write', { path: 'a', content: 'x' }, { signal: cancel.signal });
    await asked.promise;
    cancel.abort();
    assert.equal((await answer).errors[0]?.details?.['reason'], 'cancelled');
    granted.resolve();
    await tick();
    assert.equal(isReleased, true);
    await dispose();
  });

  test('a tool that has answered can change nothing any more', async () => {
    let kept: ToolContext | undefined;
    const tool = defineTool({
      ...createCounter('probe_keep').tool,
      args: z.strictObject({}),
      run: (_args, context) => {
        kept = context;
        return {};
      },
    });
    const { session, workspace, dispose } = await openScratchRuntime({ tools: [tool] });
    writeFileSync(join(workspace, 'a.txt'), 'old');
    assert.ok((await session.call('probe_keep', {})).ok);
    await assert.rejects(async () => kept?.workspace.writeFile('a.txt', Buffer.from('late')), { code: 'E_TIMEOUT' });
    assert.equal((await session.call('file_write', { path: 'a.txt', content: 'new' })).ok, true);
    await dispose();
  });
});
