import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import type { ErrorEntry } from '@tool-runtime/protocol';
import { exitCodeOf } from './report-run.ts';

function failed(code: ErrorEntry['code'], details: ErrorEntry['details'] = {}): number {
  return exitCodeOf({ ok: false, data: null, errors: [{ code, message: '', details }] });
}

describe('the exit code of a run', () => {
  test('is the one the wrapper says, from 0 to 17 [S4-43]', () => {
    assert.equal(exitCodeOf({ ok: true, data: { exit_code: 0 }, errors: [] }), 0);
    const codes = Array.from({ length: 17 }, (_, at) => at + 1);
    assert.deepEqual(
      codes.map((code) => failed('E_POLICY', { exit_code: code })),
      codes,
    );
  });

  test('is 14 for refusals that have none, and for codes that are none [S4-43]', () => {
    assert.deepEqual(
      [failed('E_POLICY'), failed('E_INTERNAL', { exit_code: 18 }), failed('E_SHELL', { exit_code: '3' })],
      [14, 14, 14],
    );
    assert.equal(exitCodeOf({ ok: true, data: null, errors: [] }), 14);
  });

  test('is never 0 for a run that failed, and 1 for one that was stopped too late to tell [S4-2]', () => {
    assert.deepEqual([failed('E_SHELL', { exit_code: 0 }), failed('E_TIMEOUT')], [1, 1]);
  });
});
