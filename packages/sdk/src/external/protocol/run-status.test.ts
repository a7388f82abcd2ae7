import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { test } from 'node:test';
import { isToolError } from '@tool-runtime/protocol';
import fc from 'fast-check';
import { computeStatus, nextRunState, normalizeExitCode, RUN_STATES } from './run-status.ts';

interface Vectors {
  readonly statuses: readonly { errors: number; warnings: number; exitCode: number; status: string }[];
  readonly exitCodes: readonly (readonly [code: number, wrapper: number])[];
}
const vectors: Vectors = JSON.parse(
  readFileSync(new URL('../fixtures/protocol-vectors.json', import.meta.url), 'utf8'),
);
const entries = (count: number) => Array.from({ length: count }, () => ({ code: 'X', message: 'x' }));

test('errors and exit beat warnings, warnings beat success [S4-2]', () => {
  for (const { errors, warnings, exitCode, status } of vectors.statuses) {
    const found = computeStatus({ errors: entries(errors), warnings: entries(warnings), exitCode });
    assert.equal(found, status, JSON.stringify({ errors, warnings, exitCode }));
  }
});

test('exit codes 0 to 9 pass, all others become 1, and the original is always there [S4-3]', () => {
  for (const [code, wrapper] of vectors.exitCodes) {
    assert.deepEqual(normalizeExitCode(code), { exitCode: wrapper, toolExitCode: code });
  }
});

test('no exit of a tool ever reads as one of the wrapper [S4-3]', () => {
  fc.assert(
    fc.property(fc.integer(), (code) => {
      const { exitCode } = normalizeExitCode(code);
      assert.ok(exitCode >= 0 && exitCode <= 9);
      assert.equal(exitCode === 0, code === 0);
    }),
  );
});

test('a run goes from created to one end and stays there [S4-42]', () => {
  const allowed = RUN_STATES.flatMap((from) =>
    RUN_STATES.filter((to) => {
      try {
        return nextRunState(from, to) === to;
      } catch (thrown) {
        assert.ok(isToolError(thrown) && thrown.code === 'E_VALIDATION_FAIL');
        return false;
      }
    }).map((to) => `${from} > ${to}`),
  );
  assert.deepEqual(allowed, [
    'created > exec_failed',
    'created > tool_result_valid',
    'created > backfilled',
    'exec_failed > exec_failed',
    'tool_result_valid > tool_result_valid',
    'backfilled > backfilled',
  ]);
});
