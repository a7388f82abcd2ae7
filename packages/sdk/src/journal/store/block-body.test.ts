import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import fc from 'fast-check';
import type {
  DecisionRecord,
  IntentRecord,
  JournalRecord,
  RequestedRecord,
  ResultRecord,
} from '../../contracts/journal.ts';
import { sampleDecision, sampleIntent, sampleRequested, sampleResult } from '../../testing/sample-records.ts';
import { bodyOf, marksOfKind, recordsOf } from './block-body.ts';

type Read = readonly [RequestedRecord, DecisionRecord, IntentRecord, ResultRecord];

function read(callId = 'c1', at_ms = 1_795_020_505_131): Read {
  return [
    sampleRequested(callId, { at_ms }),
    sampleDecision(callId, { at_ms: at_ms + 1 }),
    sampleIntent(callId, { at_ms: at_ms + 1, retry_safe: true }),
    sampleResult(callId, { at_ms: at_ms + 9, start_ts: at_ms, end_ts: at_ms + 9, duration_ms: 8.125 }),
  ];
}

function linesOf(records: readonly JournalRecord[]): number {
  return bodyOf(records).split('\n').length;
}

function restored(records: readonly JournalRecord[]): JournalRecord[] {
  return [...recordsOf({ body: bodyOf(records) })];
}

describe('the text of a block', () => {
  test('has one line for a read, and gives its four records back', () => {
    assert.equal(linesOf(read()), 1);
    assert.deepEqual(restored(read()), read());
    const many = [...read('c1'), ...read('c2'), read('c3')[0], ...read('c4')];
    assert.equal(linesOf(many), 4);
    assert.deepEqual(restored(many), many);
  });

  test('keeps the members of records in their order', () => {
    assert.equal(JSON.stringify(restored(read())), JSON.stringify(read()));
  });

  const [requested, decision, intent, result] = read();
  const others: Readonly<Record<string, readonly JournalRecord[]>> = {
    'details of the request': [{ ...requested, details: { tx_id: 't' } }, decision, intent, result],
    'a key': [{ ...requested, idempotency_key: 'k' }, decision, intent, result],
    'the line of the registry': [requested, { ...decision, registry: 'a.yaml:1' }, intent, result],
    'an answer that asks': [requested, { ...decision, outcome: 'ask' }, intent, result],
    'an intent that is not safe to repeat': [requested, decision, { ...intent, retry_safe: false }, result],
    'what is about to change': [requested, decision, { ...intent, changes: [] }, result],
    'a key of the effect': [
      ...[requested, decision],
      { ...intent, effect: { ...intent.effect, idempotency_key: 'k' } },
      result,
    ],
    'another effect': [
      ...[requested, decision],
      { ...intent, effect: { ...intent.effect, effect_id: 'effect.other' } },
      result,
    ],
    'a failure': [requested, decision, intent, { ...result, status: 'failed' }],
    'an error': [requested, decision, intent, { ...result, errors: [{ code: 'E_POLICY', message: 'no' }] }],
    'a file': [requested, decision, intent, { ...result, files: [{ path: 'a', before: null, after: '00' }] }],
    artifacts: [requested, decision, intent, { ...result, artifacts: ['a'] }],
    'masked secrets': [requested, decision, intent, { ...result, redacted: 1 }],
    'time spent waiting': [requested, decision, intent, { ...result, waited_ms: 5 }],
    'a result of the tool that names an error': [
      ...[requested, decision, intent],
      { ...result, effect: { ...result.effect, error_ref: 'E_POLICY' } },
    ],
    'a start at another time': [requested, decision, intent, { ...result, start_ts: result.start_ts - 1 }],
    'a time that is no whole number': [requested, { ...decision, at_ms: decision.at_ms + 0.1 }, intent, result],
    'the result of another call': [requested, decision, intent, { ...result, call_id: 'c2' }],
    'another session': [requested, { ...decision, session_id: 'sess-2' }, intent, result],
    'another tool': [requested, decision, { ...intent, tool: 'grep' }, result],
    'other arguments': [requested, decision, intent, { ...result, args_hash: 'hmac-sha256:01' }],
    'no result': [requested, decision, intent],
    'no decision': [requested, intent, result, decision],
  };
  for (const [name, records] of Object.entries(others)) {
    test(`has a line for each record of a call with ${name}`, () => {
      assert.equal(linesOf(records), records.length);
      assert.deepEqual(restored(records), records);
    });
  }

  test('gives back whatever was written', () => {
    const call = fc.constantFrom('c1', 'c2');
    const member = fc.constantFrom('details', 'kind', 'tool', 'at_ms', 'status', 'bytes', 'x');
    const change = fc.record({ at: fc.nat(3), member, value: fc.jsonValue() });
    const group = fc.tuple(call, fc.integer({ min: 0, max: 4e12 }), fc.option(change), fc.nat(4));
    fc.assert(
      fc.property(fc.array(group, { maxLength: 4 }), (groups) => {
        const records = groups.flatMap(([id, at, changed, length]) =>
          read(id, at)
            .map((record, index) => (changed?.at === index ? { ...record, [changed.member]: changed.value } : record))
            .filter((record) => (record as { kind?: unknown }).kind !== 'read')
            .slice(0, length),
        ) as JournalRecord[];
        if (records.length === 0) return;
        assert.deepEqual(restored(records), JSON.parse(JSON.stringify(records)));
      }),
    );
  });

  test('refuses a line of a read that lacks something', () => {
    const line = JSON.parse(bodyOf(read())) as Record<string, unknown>;
    delete line['after'];
    assert.throws(() => [...recordsOf({ body: JSON.stringify(line) })], TypeError);
  });

  test('shows by its marks which kinds of record may be inside', () => {
    const body = bodyOf(read());
    const holds = (kind: string) => marksOfKind(kind).some((mark) => body.includes(mark));
    assert.ok(['requested', 'decision', 'intent', 'result'].every(holds));
    assert.ok(!['session', 'recovery', 'approval'].some(holds));
  });
});
