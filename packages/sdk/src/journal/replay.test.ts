import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { isToolError } from '@tool-runtime/protocol';
import type { JournalRecord, StoredRecord } from '../contracts/journal.ts';
import {
  sampleDecision,
  sampleIntent,
  sampleRecovery,
  sampleRequested,
  sampleResult,
} from '../testing/sample-records.ts';
import { type ReplayMode, replay } from './replay.ts';

const numbered = (records: readonly JournalRecord[]): StoredRecord[] =>
  records.map((record, at) => ({ ...record, seq: at + 1 }));
const run = (records: readonly JournalRecord[], mode: ReplayMode = 'resume') => replay(numbered(records), { mode });
const problems = (records: readonly JournalRecord[]) =>
  run(records).problems.map(({ seq, problem }) => `${seq}: ${problem}`);
const phase = (records: readonly JournalRecord[]) => run(records).calls.get('a')?.phase;

const keyedEffect = { ...sampleIntent('a').effect, dedupe_key: 'k' };
const begun = [sampleRequested('a'), sampleDecision('a'), sampleIntent('a')];
const keyed = [sampleRequested('a'), sampleIntent('a', { effect: keyedEffect })];

describe('what a call adds up to', () => {
  const rewritten = {
    kind: 'hook',
    call_id: 'a',
    session_id: 's',
    at_ms: 1,
    hook: 'h',
    action: 'rewrote_result',
  } as const;
  const table: readonly (readonly [string, readonly JournalRecord[], string])[] = [
    ['asked', [sampleRequested('a')], 'requested'],
    ['refused', [sampleRequested('a'), sampleDecision('a', { outcome: 'deny' })], 'denied'],
    ['refused after its intent', [...begun, sampleDecision('a', { outcome: 'deny' })], 'denied'],
    ['begun', begun, 'pending'],
    ['finished', [...begun, sampleResult('a')], 'finished'],
    ['finished and rewritten by a hook', [...begun, sampleResult('a'), rewritten], 'finished'],
    ['finished with an unknown outcome', [...begun, sampleResult('a', { status: 'unknown' })], 'unknown'],
    ['lost', [...begun, sampleRecovery('a')], 'unknown'],
    ['lost and safe', [...begun, sampleRecovery('a', { classification: 'retry_safe' })], 'retry_safe'],
    [
      'lost and resolved',
      [...begun, sampleRecovery('a'), sampleRecovery('a', { classification: 'resolved' })],
      'resolved',
    ],
    ['thought lost, then finished', [...begun, sampleRecovery('a'), sampleResult('a')], 'finished'],
    [
      'finished, then spoken of',
      [...begun, sampleResult('a'), sampleRecovery('a', { classification: 'repair' })],
      'finished',
    ],
  ];
  for (const [name, records, expected] of table) {
    test(`a call that was ${name} is ${expected} [S1-42]`, () => {
      assert.equal(phase(records), expected);
      assert.deepEqual(problems(records), []);
    });
  }
});

describe('pending calls', () => {
  test('section 6 item 8: an intent without result is pending, and only safe or keyed ones may be retried [S1-42]', () => {
    const unsafe = run(begun);
    assert.deepEqual(unsafe.pending, [
      {
        callId: 'a',
        sessionId: 'session-1',
        tool: 'file_write',
        argsHash: 'hmac-sha256:00',
        instance: 'instance-1',
        seq: 3,
        retrySafe: false,
        keyed: false,
        retryable: false,
        classification: undefined,
      },
    ]);
    assert.equal(unsafe.canResume, false);
    const safe = run([sampleIntent('a', { retry_safe: true })]);
    assert.deepEqual([safe.pending[0]?.retryable, safe.canResume], [true, true]);
    const withKey = run(keyed);
    assert.deepEqual([withKey.pending[0]?.keyed, withKey.pending[0]?.retryable, withKey.canResume], [true, true, true]);
  });

  test('a call left to a person blocks resuming until it is resolved [S1-42]', () => {
    const lost = [...keyed, sampleRecovery('a')];
    assert.deepEqual([run(lost).pending.length, run(lost).canResume], [1, false]);
    const resolved = [...lost, sampleRecovery('a', { classification: 'resolved' })];
    assert.deepEqual([run(resolved).pending.length, run(resolved).canResume], [0, true]);
  });

  test('audit and repair never let anything run [S1-42]', () => {
    const finished = [...begun, sampleResult('a')];
    assert.deepEqual(
      (['audit', 'repair', 'resume'] as const).map((mode) => run(finished, mode).canResume),
      [false, false, true],
    );
  });

  test('pending calls come in the order of their intents [S1-42]', () => {
    const records = [sampleRequested('a'), sampleRequested('b'), sampleIntent('b'), sampleIntent('a')];
    assert.deepEqual(
      run(records).pending.map(({ callId }) => callId),
      ['b', 'a'],
    );
  });
});

describe('order and repetition', () => {
  test('records out of order and of unknown kind stop the replay [S1-42]', () => {
    const fails = (records: readonly StoredRecord[], message: RegExp) =>
      assert.throws(
        () => replay(records, { mode: 'audit' }),
        (thrown) => isToolError(thrown) && thrown.details['kind'] === 'journal_failure' && message.test(thrown.message),
      );
    fails(
      [
        { ...sampleIntent('a'), seq: 2 },
        { ...sampleResult('a'), seq: 2 },
      ],
      /out of order: record 2 after 2/,
    );
    fails([{ ...sampleIntent('a'), seq: 0 }], /out of order/);
    fails([{ ...sampleIntent('a'), kind: 'surprise', seq: 1 } as unknown as StoredRecord], /unknown kind: record 1/);
    assert.equal(replay([{ ...sampleIntent('a'), seq: 7 }], { mode: 'audit' }).pending.length, 1);
  });

  test('an identical repetition is ignored with a key and a problem without [S1-42]', () => {
    const [intent] = keyed.slice(1);
    assert.deepEqual(problems([...keyed, intent as JournalRecord]), []);
    assert.deepEqual(problems([...keyed, sampleResult('a'), sampleResult('a')]), []);
    assert.deepEqual(problems([...begun, sampleIntent('a')]), ['4: duplicate intent of a call without a key']);
    assert.deepEqual(problems([...begun, sampleResult('a'), sampleResult('a')]), [
      '5: duplicate result of a call without a key',
    ]);
    assert.deepEqual(problems([...begun, sampleRecovery('a'), sampleRecovery('a')]), []);
  });

  test('nothing but recovery and checkpoint may follow the end of a call [S1-42]', () => {
    const checkpoint = { kind: 'checkpoint', at_ms: 1, open: [], open_seq: [], instance: 'i' } as const;
    assert.deepEqual(problems([...begun, sampleResult('a'), checkpoint, sampleRecovery('a')]), []);
    assert.deepEqual(problems([...keyed, sampleResult('a'), sampleResult('a', { bytes: 9 })]), [
      '4: result after the call was over',
    ]);
    assert.deepEqual(problems([...begun, sampleResult('a'), sampleDecision('a', { at_ms: 9 })]), [
      '5: decision after the call was over',
    ]);
    assert.deepEqual(problems([sampleDecision('a', { outcome: 'deny' }), sampleIntent('a')]), [
      '2: intent after the call was over',
    ]);
  });

  test('a result without intent and a second intent are problems, and resuming is refused [S1-42]', () => {
    assert.deepEqual(problems([sampleRequested('a'), sampleResult('a')]), ['2: result without intent']);
    assert.deepEqual(problems([...begun, sampleIntent('a', { tool: 'other' })]), ['4: second intent']);
    assert.equal(run([sampleResult('a')]).canResume, false);
  });
});
