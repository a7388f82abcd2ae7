import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import type { ToolResponse } from '@tool-runtime/protocol';
import type { StoredRecord } from '@tool-runtime/sdk';
import { CallBook, type CallPlan, type Sender } from './call-book.ts';
import { checkJournal } from './check-journal.ts';
import { type HostileReport, sendHostileCrowd } from './hostile-crowd.ts';
import { Problems } from './problems.ts';
import { runKills } from './run-kills.ts';
import { runLoad } from './run-load.ts';

const SEED = 7;

describe('a host under load', () => {
  test('answers 100 sessions on three transports once each, and its journal says the same', async () => {
    const { problems, calls, events, journal } = await runLoad({ sessions: 100, inFlight: 32, seconds: 5, seed: SEED });
    assert.deepEqual(problems.first, []);
    assert.ok(calls >= 32 && events > 0, `${calls} calls, ${events} events`);
    assert.equal(journal.requested, calls);
    assert.equal(journal.results + journal.fromRecord + journal.refused, calls);
  });

  test('goes on serving others among slow readers, half-open connections, garbage and thousands of connects', async () => {
    let hostile: HostileReport | undefined;
    const { problems, calls } = await runLoad({
      sessions: 30,
      inFlight: 16,
      seconds: 5,
      seed: SEED,
      beside: async (serve, isOver) => {
        hostile = await sendHostileCrowd(serve, isOver);
      },
    });
    assert.deepEqual(problems.first, []);
    assert.ok(calls >= 16, `${calls} calls`);
    assert.ok(hostile !== undefined && hostile.connects >= 3000 && hostile.garbage > 0, JSON.stringify(hostile));
  });

  test('that is killed keeps what it acknowledged, reports what it began and repeats nothing', async () => {
    const { problems, rounds, journal } = await runKills({
      sessions: 60,
      inFlight: 32,
      kills: 2,
      longestSeconds: 2,
      seed: SEED,
    });
    assert.deepEqual(problems.first, []);
    for (const { calls, lost, repeated, answered, stillUnknown } of rounds) {
      assert.ok(calls > 0 && lost > 0 && repeated > 0);
      assert.equal(answered + stillUnknown, repeated);
    }
    assert.equal(journal.unfinished, journal.recoveries);
  });
});

describe('the judge of a load run', () => {
  const plan: CallPlan = { kind: 'read', tool: 'file_read', args: {}, judge: () => undefined };
  const sender: Sender = { transport: 'lines', sessionId: 'session-1', send() {} };
  const answer = (requestId: string): string =>
    JSON.stringify({
      type: 'ToolResponse',
      ok: true,
      tool: 'file_read',
      request_id: requestId,
      duration_ms: 1,
      data: null,
      errors: [],
      warnings: [],
    } satisfies ToolResponse);
  const event = (requestId: string): string =>
    JSON.stringify({
      type: 'EventMessage',
      event: 'TaskProgress',
      request_id: requestId,
      progress: { pct: 1, message: '' },
    });
  const records = (...kinds: object[]): StoredRecord[] =>
    kinds.map((record, seq) => ({ call_id: 'call-1', session_id: 'session-1', seq, ...record }) as StoredRecord);
  const requested = { kind: 'requested', request_id: 'request-1', tool: 'file_read' };
  const result = { kind: 'result', status: 'completed' };

  async function oneCall(...heard: string[]): Promise<{ book: CallBook; problems: Problems }> {
    const problems = new Problems();
    const book = new CallBook(problems);
    const made = book.make(plan, sender);
    for (const text of heard) book.hear(text);
    if (heard.length > 0) await made;
    return { book, problems };
  }

  test('passes a call whose events come before its one answer', async () => {
    const { problems } = await oneCall(event('request-1'), answer('request-1'));
    assert.deepEqual(problems.first, []);
  });

  test('finds a second answer, an answer to nothing and an event that comes too late', async () => {
    const { problems } = await oneCall(answer('request-1'), answer('request-1'), answer('other'), event('request-1'));
    assert.equal(problems.count, 3);
    assert.match(problems.first.join('\n'), /nobody waits.*request-1[\s\S]*nobody waits.*other[\s\S]*after the answer/);
  });

  test('passes a journal with intent and result, and finds what is missing, doubled or made up', async () => {
    const judged = async (...stored: object[]): Promise<string> => {
      const { book, problems } = await oneCall(answer('request-1'));
      checkJournal(records(...stored), book, problems);
      return problems.first.join('; ');
    };
    assert.equal(await judged(requested, { kind: 'intent' }, result), '');
    assert.match(await judged(), /acknowledged and not on record/);
    assert.match(await judged(requested, { kind: 'intent' }), /not reported.*recorded otherwise/);
    assert.match(await judged(requested, { kind: 'intent' }, { kind: 'intent' }, result), /ran 2 times/);
    const crashed = { kind: 'recovery', reason: 'crashed' };
    assert.match(await judged(requested, { kind: 'intent' }, result, crashed), /although it has a result/);
    assert.match(await judged({ ...requested, request_id: 'request-2' }), /nobody made/);
  });

  test('counts the requests after the report of a dead process, not after a decision about its call', async () => {
    const { book, problems } = await oneCall(answer('request-1'));
    const crashed = { kind: 'recovery', reason: 'crashed' };
    const settled = { kind: 'recovery', reason: 'completed' };
    const again = { ...requested, call_id: 'call-2', request_id: 'request-2' };
    const since = (...stored: object[]): number =>
      checkJournal(records(requested, { kind: 'intent' }, ...stored), book, problems).requestedSinceReport;
    assert.deepEqual([since(crashed, again, settled), since(again, crashed, settled), since(again)], [1, 0, 2]);
  });

  test('finds a call that was never answered', async () => {
    const { book, problems } = await oneCall();
    checkJournal([], book, problems);
    assert.match(problems.first.join(), /never answered: request-1/);
  });
});
