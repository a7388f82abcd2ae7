import assert from 'node:assert/strict';
import { test } from 'node:test';
import { ERROR_GUIDE } from '@tool-runtime/protocol';
import fc from 'fast-check';
import { boundText, refusalText } from './answer-text.ts';

test('a text that fits is left alone', () => {
  assert.equal(boundText('é'.repeat(50), 100), 'é'.repeat(50));
});

test('a longer text keeps its beginning and says how much was cut', () => {
  assert.equal(
    boundText('a'.repeat(101), 100),
    `${'a'.repeat(100)}\n[cut: 100 of 101 bytes shown; ask for a smaller part to see the rest]`,
  );
});

test('a cut never splits a character and never exceeds the limit', () => {
  fc.assert(
    fc.property(fc.string({ unit: 'grapheme' }), fc.integer({ min: 1, max: 60 }), (text, limit) => {
      const bounded = boundText(text, limit);
      if (Buffer.byteLength(text) <= limit) return assert.equal(bounded, text);
      const shown = bounded.slice(0, bounded.lastIndexOf('\n'));
      assert.ok(text.startsWith(shown));
      assert.ok(Buffer.byteLength(shown) <= limit && Buffer.byteLength(shown) > limit - 4);
      assert.ok(shown.isWellFormed());
    }),
  );
});

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
