import assert from 'node:assert/strict';
import { test } from 'node:test';
import { ERROR_GUIDE } from '@tool-runtime/protocol';
import { refusalText } from './refusal-text.ts';

test('a refusal names code, argument, rule, registry line and next step', () => {
  const details = { gate: 'rule', rule: 'sec.paths.sandbox', registry: 'tool-runtime.yaml:4', next: 'stay inside' };
  assert.equal(
    refusalText([{ code: 'E_POLICY', message: 'Path leaves the workspace: ../x', path: 'path', details }]),
    [
      'Refused (E_POLICY): Path leaves the workspace: ../x',
      'Argument: path',
      'Rule: sec.paths.sandbox',
      'Decided at: tool-runtime.yaml:4',
      'Next: stay inside',
    ].join('\n'),
  );
});

test('a tool that ran and did not succeed has failed, and the usual next step is named', () => {
  assert.equal(
    refusalText([{ code: 'E_GIT', message: 'Nothing to commit' }]),
    `Failed (E_GIT): Nothing to commit\nNext: ${ERROR_GUIDE.E_GIT.next}`,
  );
});

test('every error is told', () => {
  const text = refusalText([
    { code: 'E_VALIDATION_FAIL', message: 'first', path: 'a' },
    { code: 'E_VALIDATION_FAIL', message: 'second', path: 'b' },
  ]);
  assert.match(text, /first\nArgument: a\nNext: correct the argument a\n\n.*second/);
});
