import assert from 'node:assert/strict';
import { test } from 'node:test';
import { problemsOf } from './conformance/run-suite.ts';
import { journalProblems, runServerSets } from './conformance/server-sets.ts';

test('the official conformance suite finds no scored failure, and every call it made is in the journal', async () => {
  const { results, journal } = await runServerSets();
  assert.deepEqual(results.flatMap(problemsOf), []);
  assert.deepEqual(journalProblems(journal), []);
  assert.deepEqual(
    results.map(({ name, scenarios }) => [name, scenarios.filter(({ isScored }) => isScored).length]),
    [
      ['server 2025-11-25', 30],
      ['server 2026-07-28', 37],
      ['server, suite 0.1.16', 30],
    ],
  );
  const warned = results.flatMap(({ scenarios }) =>
    scenarios.flatMap(({ isScored, warnings }) => (isScored ? warnings : [])),
  );
  assert.deepEqual(warned, []);
});
