import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { stripVTControlCharacters } from 'node:util';
import type { JournalRecord, StoredRecord } from '@tool-runtime/sdk';
import { describeRecord } from './record-line.ts';

const call = { call_id: 'c1', session_id: 's1', at_ms: Date.UTC(2024, 0, 1, 12, 30, 5, 7) };
const identity = { actor: 'ann', client: 'cli' };
const effect = { effect_id: 'effect.c1' } as never;

const lines: readonly (readonly [JournalRecord, string])[] = [
  [
    {
      kind: 'requested',
      ...call,
      ...identity,
      request_id: 'r1',
      tool: 'file_read',
      args_hash: 'h',
      args_summary: 'path="a"',
    },
    'requested  file_read path="a" by ann, call c1',
  ],
  [
    {
      kind: 'decision',
      ...call,
      outcome: 'deny',
      gate: 'rule',
      code: 'x',
      rule: 'sec.a',
      registry: 'r.yaml:4',
      message: 'No',
    },
    'decision   deny rule: sec.a (r.yaml:4) No',
  ],
  [{ kind: 'decision', ...call, outcome: 'allow', gate: 'policy', code: 'fine' }, 'decision   allow policy: fine'],
  [
    {
      kind: 'approval',
      ...call,
      phase: 'answered',
      approval_id: 'a1',
      answer: 'deny',
      answered_by: 'bob',
      reason: 'why',
    },
    'approval   answered deny bob why',
  ],
  [{ kind: 'approval', ...call, phase: 'dispatched', approval_id: 'a1' }, 'approval   dispatched'],
  [{ kind: 'hook', ...call, hook: 'h1', action: 'denied' }, 'hook       h1 denied'],
  [
    { kind: 'intent', ...call, tool: 'file_write', args_hash: 'h', retry_safe: true, instance: 'i', effect },
    'intent     file_write effect.c1',
  ],
  [
    {
      kind: 'result',
      ...call,
      tool: 'file_write',
      args_hash: 'h',
      status: 'completed',
      start_ts: 1,
      end_ts: 2,
      duration_ms: 1.234,
      bytes: 3,
      files: [
        { path: 'a', before: null, after: 'x' },
        { path: 'b', before: null, after: 'x' },
      ],
      errors: [],
      effect,
    },
    'result     file_write completed in 1.23 ms a, b',
  ],
  [
    {
      kind: 'session',
      event: 'opened',
      session_id: 's1',
      at_ms: call.at_ms,
      ...identity,
      package_fingerprint: 'p',
      registry_fingerprint: 'r',
    },
    'session    opened s1 ann, cli',
  ],
  [
    { kind: 'recovery', at_ms: call.at_ms, reason: 'crashed', classification: 'repair', note: 'look' },
    'recovery   crashed → repair look',
  ],
  [{ kind: 'checkpoint', at_ms: call.at_ms, open: ['c1'], open_seq: [1], instance: 'i' }, 'checkpoint 1 open calls'],
  [
    { kind: 'child', at_ms: call.at_ms, session_id: 's1', child_session_id: 's2', event: 'opened', details: {} },
    'child      opened s2',
  ],
  [
    {
      kind: 'plan',
      at_ms: call.at_ms,
      session_id: 's1',
      plan_id: 'plan.1',
      ...identity,
      accepted: false,
      steps: [
        { tool: 'file_read', args_hash: 'h', args_summary: 'path="a"', verdict: 'allow' },
        { tool: 'x\u001b[2J', args_hash: 'h', args_summary: '', verdict: 'deny', code: 'unknown_tool' },
      ],
    },
    'plan       deny 2 steps: file_read, x\\u{1b}[2J by ann, plan.1',
  ],
];

describe('describeRecord', () => {
  for (const [record, gist] of lines) {
    test(`says ${gist}`, () => {
      const line = describeRecord({ ...record, seq: 42 } as StoredRecord);
      assert.equal(stripVTControlCharacters(line), `    42 12:30:05.007 ${gist}`);
    });
  }

  test('lets no text of a record steer the terminal', () => {
    const [requested] = lines[0] ?? [];
    const line = describeRecord({ ...requested, seq: 1, tool: 'x\u001b[2J\ny' } as StoredRecord);
    assert.match(line, /x\\u\{1b\}\[2J\\ny/);
  });
});
