/** What every EffectLedger must do, in memory and in a fleet. `open` gives two hosts; the first holds the workspace. */
import assert from 'node:assert/strict';
import { describe, type TestContext, test } from 'node:test';
import { isToolError, type JsonObject } from '@tool-runtime/protocol';
import type { EffectClaim, EffectIntent, EffectLedger, EffectState } from '../contracts/effect-ledger.ts';

export interface LedgerPair {
  readonly first: EffectLedger;
  readonly second: EffectLedger;
  /** Resolves when the second host holds the workspace and the first does not. */
  move(): Promise<void>;
}

export function effectLedgerSuite(name: string, open: (t: TestContext) => Promise<LedgerPair>): void {
  const check = (title: string, body: (pair: LedgerPair) => Promise<void>): void => {
    test(title, async (t) => body(await open(t)));
  };
  // Each case has a workspace of its own, and waits for servers more than it works.
  describe(`${name} as EffectLedger`, { concurrency: true }, () => {
    check('a call is claimed once and answered to all hosts', async ({ first, second }) => {
      assert.deepEqual(await first.lookup(intent('k')), { state: 'new' });
      const claim = claimed(await first.begin(intent('k')));
      assert.deepEqual(await first.lookup(intent('k')), { state: 'running', callId: 'call-k' });
      assert.equal((await first.begin({ ...intent('k'), callId: 'other' })).state, 'running');
      assert.equal(await claim.finish({ data: 1 }), true);
      for (const ledger of [first, second]) {
        assert.deepEqual(await ledger.lookup(intent('k')), { state: 'done', callId: 'call-k', answer: { data: 1 } });
      }
    });

    check('of many that begin at once, one is claimed', async ({ first }) => {
      const begun = await Promise.all(
        Array.from({ length: 20 }, (_, at) => first.begin({ ...intent('many'), callId: `call-${at}` })),
      );
      assert.equal(begun.filter(({ state }) => state === 'claimed').length, 1);
    });

    check('a key with other arguments is a conflict', async ({ first }) => {
      await claimed(await first.begin(intent('c'))).finish({});
      assert.equal((await first.lookup({ ...intent('c'), args: { path: 'other' } })).state, 'conflict');
      assert.equal((await first.begin({ ...intent('c'), tool: 'other' })).state, 'conflict');
      assert.equal((await first.lookup(intent('c'))).state, 'done');
    });

    check('a released call may be begun again', async ({ first }) => {
      await claimed(await first.begin(intent('r'))).release();
      assert.equal((await first.lookup(intent('r'))).state, 'new');
      assert.equal(await claimed(await first.begin(intent('r'))).finish({ data: 2 }), true);
      assert.equal((await first.lookup(intent('r'))).state, 'done');
    });

    check('a large answer comes back whole', async ({ first, second }) => {
      const answer = { data: 'x'.repeat(1_500_000) };
      await claimed(await first.begin(intent('large'))).finish(answer);
      const found = await second.lookup(intent('large'));
      assert.ok(found.state === 'done' && found.answer['data'] === answer.data);
    });

    check('the fence is with the holder', async ({ first, second, move }) => {
      first.checkFence();
      assert.throws(() => second.checkFence(), isFenced);
      await assert.rejects(second.begin(intent('f')), isFenced);
      await move();
      second.checkFence();
      assert.throws(() => first.checkFence(), isFenced);
      await assert.rejects(first.begin(intent('f')), isFenced);
      claimed(await second.begin(intent('f')));
    });

    check('a lost call is taken over once, and its late outcome does not count', async ({ first, second, move }) => {
      const rehearsal = { root: 'r', changes: [{ subject: 'path:a', before: 'x', after: 'y' }], answer: {} };
      const late = claimed(await first.begin({ ...intent('l'), rehearsal }));
      const inTime = claimed(await first.begin(intent('m')));
      await move();
      const lost = await second.lookup(intent('l'));
      assert.ok(lost.state === 'lost');
      assert.deepEqual(lost.rehearsal, rehearsal);
      assert.equal((await second.begin(intent('l'))).state, 'lost');
      const taken = await Promise.all([
        second.begin({ ...intent('l'), callId: 'second', over: lost.at }),
        second.begin({ ...intent('l'), callId: 'third', over: lost.at }),
      ]);
      const won = taken.filter((claim) => claim.state === 'claimed') as EffectClaim[];
      assert.equal(won.length, 1);
      assert.equal(await late.finish({ data: 'late' }), false);
      assert.equal(await won[0]?.finish({ data: 'second' }), true);
      const done = await second.lookup(intent('l'));
      assert.ok(done.state === 'done' && done.answer['data'] === 'second');
      // Not taken over by the time its outcome arrives: it counts, and is not lost any more.
      assert.equal(await inTime.finish({ data: 'in time' }), true);
      assert.equal((await second.lookup(intent('m'))).state, 'done');
    });
  });
}

function intent(key: string): EffectIntent {
  const args: JsonObject = { path: 'a', content: key };
  return {
    scope: 'idempotency:test',
    key,
    tool: 'file_write',
    args,
    callId: `call-${key}`,
    sessionId: 's',
    retrySafe: false,
  };
}

function claimed(state: EffectClaim | EffectState): EffectClaim {
  assert.ok(state.state === 'claimed', JSON.stringify(state));
  return state;
}

function isFenced(error: unknown): boolean {
  return isToolError(error) && error.details['reason'] === 'fenced';
}
