import assert from 'node:assert/strict';
import { test } from 'node:test';
import { EMPTY_DIGEST, FULL_RESULT } from '../../../test/sample-result.ts';
import type { RunResult } from '../../contracts/external.ts';
import { runDigest } from './run-digest.ts';

const other = `sha256:${'1'.repeat(64)}`;

test('S4-27 runs that differ only in when, who and where have one digest', () => {
  const again: RunResult = {
    ...FULL_RESULT,
    run_id: '2030-01-01T00-00-00-000000Z-000000',
    started_at: '2030-01-01T00:00:00Z',
    completed_at: '2030-01-01T00:00:09Z',
    duration_ms: 9000,
    wrapper: { name: 'epack', version: '9' },
    identity: {},
    run_context: {},
    warnings: [{ code: 'OTHER', message: 'words' }],
    run_digest: other,
    pack_path: '/elsewhere',
    outputs: FULL_RESULT.outputs.map((output) => ({ ...output, media_type: 'x/y' })),
  };
  assert.equal(runDigest(again), runDigest(FULL_RESULT));
  assert.match(runDigest(FULL_RESULT), /^sha256:[0-9a-f]{64}$/);
});

test('S4-27 neither the order of outputs nor of inputs counts', () => {
  const [one, two] = ['a', 'b'].map((path) => ({ path, media_type: '', digest: EMPTY_DIGEST }));
  assert.ok(one && two);
  const there = { ...FULL_RESULT, inputs: { a: 1, b: 2 }, outputs: [one, two] };
  const back = { ...FULL_RESULT, inputs: { b: 2, a: 1 }, outputs: [two, one] };
  assert.equal(runDigest(there), runDigest(back));
});

test('S4-27 each part of what a run did changes the digest', () => {
  const changes: readonly Partial<RunResult>[] = [
    {},
    { tool: { ...FULL_RESULT.tool, name: 'other' } },
    { tool: { ...FULL_RESULT.tool, version: '9' } },
    { inputs: { question: 'how' } },
    { pack_digest: other },
    { pack_digest: '' },
    { outputs: [] },
    { outputs: [{ path: 'outputs/answer.txt', media_type: '', digest: other }] },
    { outputs: [{ path: 'outputs/other.txt', media_type: '', digest: EMPTY_DIGEST }] },
    { status: 'failure' },
  ];
  const digests = changes.map((change) => runDigest({ ...FULL_RESULT, ...change }));
  assert.equal(new Set(digests).size, changes.length);
});

test('S4-27 the canonical form is fixed', () => {
  assert.equal(runDigest(FULL_RESULT), 'sha256:d43dc33f29aaa2347fdac20408b9cabd310350a2e93ce81eb2dd1ad382fcfef1');
});
