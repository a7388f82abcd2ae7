import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { nothing } from '../testing/probe-tools.ts';
import { openScratchRuntime } from '../testing/scratch-runtime.ts';

describe('the end of a child', () => {
  test('reaches every waiter, whatever caused it [S3-49]', async () => {
    const { session, dispose } = await openScratchRuntime({ tools: [nothing] });
    const [done, expired, taken] = [
      await session.openChild({ agentId: 'done' }),
      await session.openChild({ agentId: 'expired' }),
      await session.openChild({ agentId: 'taken' }),
    ];
    let isOver = false;
    void taken.ended.then(() => {
      isOver = true;
    });
    await done.complete();
    assert.equal(await done.ended, 'closed');
    await expired.close({ cancel: true, reason: 'expired' });
    assert.equal(await expired.ended, 'expired');
    assert.equal(isOver, false);
    await session.close({ cancel: true });
    assert.deepEqual([await taken.ended, await session.ended], ['closed', 'closed']);
    await dispose();
  });

  test('is on record as expired when it fell silent, though what ran was cancelled [S3-47]', async () => {
    const { session, runtime, dispose } = await openScratchRuntime({ tools: [nothing] });
    const child = await session.openChild({ agentId: 'silent' });
    await child.close({ cancel: true, reason: 'expired' });
    const other = await session.openChild({ agentId: 'stopped' });
    await other.close({ cancel: true });
    const ends = [...runtime.records({ kind: 'child' })].flatMap((record) =>
      record.kind === 'child' && !['started', 'handoff', 'usage'].includes(record.event) ? [record.event] : [],
    );
    assert.deepEqual(ends, ['expired', 'cancelled']);
    await dispose();
  });

  test('a request id that opened a child is used, for calls and for children [S0-10]', async () => {
    const { session, dispose } = await openScratchRuntime({ tools: [nothing] });
    await session.openChild({ agentId: 'a' }, { requestId: 'r1' });
    for (const again of [
      session.openChild({ agentId: 'b' }, { requestId: 'r1' }),
      session.call('probe_nothing', {}, { requestId: 'r1' }),
    ]) {
      await assert.rejects(again, (thrown: { details?: Record<string, unknown> }) => {
        assert.equal(thrown.details?.['reason'], 'request_id_reused');
        return true;
      });
    }
    assert.equal(session.hasSeen('r1'), true);
    assert.equal(session.children().length, 1);
    assert.equal((await session.call('probe_nothing', {}, { requestId: 'r2' })).ok, true);
    await dispose();
  });

  test('a runtime names the processes that have its journal open', async () => {
    const { runtime, dispose } = await openScratchRuntime();
    assert.equal(runtime.instances().length, 1);
    await dispose();
  });
});
