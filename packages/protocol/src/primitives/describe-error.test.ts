import assert from 'node:assert/strict';
import { test } from 'node:test';
import { describeError } from './describe-error.ts';

test('an error says what, where, which rule, and what to do', () => {
  const details = { rule: 'secrets.scan', registry: 'tool-runtime.yaml:3', next: 'remove it', line: 7, gate: 'rule' };
  assert.equal(
    describeError({ code: 'E_VALIDATION_FAIL', message: 'A token', path: 'src/a.ts', details }),
    'E_VALIDATION_FAIL: A token\nat: src/a.ts:7\nrule: secrets.scan\ndecided by: tool-runtime.yaml:3\nnext: remove it',
  );
});

test('an error without details is one line', () => {
  assert.equal(describeError({ code: 'E_INTERNAL', message: 'Broken', path: 'args' }), 'E_INTERNAL: Broken');
});
