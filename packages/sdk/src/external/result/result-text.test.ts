import assert from 'node:assert/strict';
import { test } from 'node:test';
import { FULL_RESULT, RUN_ID } from '../../../test/sample-result.ts';
import { parseResult } from '../protocol/parse-result.ts';
import { newResult, newToolInfo, newWrapperInfo } from './new-result.ts';
import { resultText } from './result-text.ts';
import { validateResult } from './validate-result.ts';

const fresh = newResult({
  wrapper: newWrapperInfo('neutral', '1'),
  tool: newToolInfo({ name: 'ask', version: '1' }),
  runId: RUN_ID,
  startedAtMs: 0,
});

test('S4-15 a result has the fields of the protocol in their order, then what nobody knows', () => {
  const shuffled = Object.fromEntries(Object.entries(FULL_RESULT).reverse()) as unknown as typeof FULL_RESULT;
  assert.equal(resultText(shuffled), `${JSON.stringify(FULL_RESULT, null, 2)}\n`);
});

test('S4-15 S4-20 a written result reads back as what it was, unknown fields too', () => {
  assert.deepEqual(validateResult(parseResult(Buffer.from(resultText(FULL_RESULT)))), FULL_RESULT);
});

test('S4-15 optional fields are left out when they are empty', () => {
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

test('S4-15 the exit of a tool that never ran is null, and inputs and lists are there when empty', () => {
  const written = JSON.parse(resultText(fresh));
  assert.equal(written.tool_exit_code, null);
  assert.deepEqual([written.inputs, written.outputs, written.errors, written.warnings], [{}, [], [], []]);
});

test('S4-23 sync data keeps its nulls', () => {
  const written = JSON.parse(resultText({ ...fresh, sync: { ledger_id: null, synced_at: null } }));
  assert.deepEqual(written.sync, { ledger_id: null, synced_at: null });
});

test('S4-19 the text is indented and ends in a newline', () => {
  const text = resultText(fresh);
  assert.ok(text.startsWith('{\n  "schema_version": 1,\n') && text.endsWith('\n}\n'));
});
