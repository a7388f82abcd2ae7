import assert from 'node:assert/strict';
import { test } from 'node:test';
import { EMPTY_DIGEST, FULL_RESULT, RUN_ID } from '../../../test/sample-result.ts';
import type { RunResult } from '../../contracts/external.ts';
import { parseResult, validateResult } from '../protocol/read-result.ts';
import { newResult, newToolInfo, newWrapperInfo, resultText, runDigest } from './new-result.ts';

test('a new result has every required field and claims nothing [S4-16]', () => {
  const result = newResult({
    wrapper: newWrapperInfo('neutral', '1.2.3'),
    tool: newToolInfo({ name: 'ask', version: '0.1.0' }),
    runId: '2025-01-15T10-30-00-000000Z-000000',
    startedAtMs: 1_736_937_000_999,
  });
  assert.deepEqual(result, {
    schema_version: 1,
    wrapper: { name: 'tool-runtime', version: '1.2.3' },
    tool: { name: 'ask', version: '0.1.0', protocol_version: 1 },
    run_id: '2025-01-15T10-30-00-000000Z-000000',
    started_at: '2025-01-15T10:30:00Z',
    completed_at: '2025-01-15T10:30:00Z',
    duration_ms: 0,
    exit_code: 0,
    tool_exit_code: null,
    status: 'success',
    inputs: {},
    outputs: [],
    errors: [],
    warnings: [],
  });
  assert.deepEqual(validateResult(result), result);
});

test('the wrapper is called as its profile says [S4-17]', () => {
  assert.deepEqual(newWrapperInfo('epack', '2.0.0'), { name: 'epack', version: '2.0.0' });
  assert.deepEqual(newWrapperInfo('neutral', '2.0.0'), { name: 'tool-runtime', version: '2.0.0' });
});

test('a protocol version that is not said is the current one [S4-17]', () => {
  const tool = { name: 'ask', version: '1' };
  assert.equal(newToolInfo(tool).protocol_version, 1);
  assert.equal(newToolInfo({ ...tool, protocolVersion: 0 }).protocol_version, 1);
  assert.equal(newToolInfo({ ...tool, protocolVersion: 7 }).protocol_version, 7);
});

const fresh = newResult({
  wrapper: newWrapperInfo('neutral', '1'),
  tool: newToolInfo({ name: 'ask', version: '1' }),
  runId: RUN_ID,
  startedAtMs: 0,
});

test('a result has the fields of the protocol in their order, then the unknown ones [S4-15]', () => {
  const shuffled = Object.fromEntries(Object.entries(FULL_RESULT).reverse()) as unknown as typeof FULL_RESULT;
  assert.equal(resultText(shuffled), `${JSON.stringify(FULL_RESULT, null, 2)}\n`);
});

test('a written result reads back as what it was, unknown fields too [S4-15 S4-20]', () => {
  assert.deepEqual(validateResult(parseResult(Buffer.from(resultText(FULL_RESULT)))), FULL_RESULT);
});

test('optional fields are left out when they are empty [S4-15]', () => {
  const empties = {
    ...fresh,
    pack_path: '',
    pack_digest: '',
    identity: {},
    run_context: { ci: false, repo: '' },
    run_digest: '',
    outputs: [{ path: 'a', media_type: '', digest: '', bytes: 0 }],
    errors: [{ code: 'X', message: '', path: '', details: null }],
    warnings: [{ code: 'Y', message: '', details: {} }],
  };
  const written = JSON.parse(resultText(empties));
  assert.deepEqual(written, {
    ...fresh,
    outputs: [{ path: 'a', media_type: '' }],
    errors: [{ code: 'X', message: '' }],
    warnings: [{ code: 'Y', message: '', details: {} }],
  });
});

test('the exit of a tool that never ran is null, and inputs and lists are there when empty [S4-15]', () => {
  const written = JSON.parse(resultText(fresh));
  assert.equal(written.tool_exit_code, null);
  assert.deepEqual([written.inputs, written.outputs, written.errors, written.warnings], [{}, [], [], []]);
});

test('sync data keeps its nulls [S4-23]', () => {
  const written = JSON.parse(resultText({ ...fresh, sync: { ledger_id: null, synced_at: null } }));
  assert.deepEqual(written.sync, { ledger_id: null, synced_at: null });
});

test('the text is indented and ends in a newline [S4-19]', () => {
  const text = resultText(fresh);
  assert.ok(text.startsWith('{\n  "schema_version": 1,\n') && text.endsWith('\n}\n'));
});

const other = `sha256:${'1'.repeat(64)}`;

test('runs that differ only in when, who and where have one digest [S4-27]', () => {
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

test('neither the order of outputs nor of inputs counts [S4-27]', () => {
  const [one, two] = ['a', 'b'].map((path) => ({ path, media_type: '', digest: EMPTY_DIGEST }));
  assert.ok(one && two);
  const there = { ...FULL_RESULT, inputs: { a: 1, b: 2 }, outputs: [one, two] };
  const back = { ...FULL_RESULT, inputs: { b: 2, a: 1 }, outputs: [two, one] };
  assert.equal(runDigest(there), runDigest(back));
});

test('each part of what a run did changes the digest [S4-27]', () => {
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

test('the canonical form is fixed [S4-27]', () => {
  assert.equal(runDigest(FULL_RESULT), 'sha256:d43dc33f29aaa2347fdac20408b9cabd310350a2e93ce81eb2dd1ad382fcfef1');
});
