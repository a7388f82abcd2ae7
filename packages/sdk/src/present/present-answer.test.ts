import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { ErrorEntry } from '@tool-runtime/protocol';
import { plainRows, presentAnswer } from './present-answer.ts';

const WARNING: ErrorEntry = { code: 'E_VALIDATION_FAIL', message: 'Missing comment' };

function textOf(ok: boolean, errors: readonly ErrorEntry[]): string {
  const response = { ok, data: { lines: 3 }, errors, warnings: [WARNING] };
  return presentAnswer(response, { tool: undefined, args: {}, maxTokens: 1000 }).text;
}

test('a failure comes before its warnings, and warnings before an answer', () => {
  const failed = textOf(false, [{ code: 'E_GIT', message: 'Remote refused the push', details: { next: 'pull' } }]);
  assert.match(failed, /^E_GIT: Remote refused the push\nnext: pull\nwarning: E_VALIDATION_FAIL: Missing comment$/);
  assert.match(textOf(true, []), /^warning: E_VALIDATION_FAIL: Missing comment\n.*3/);
});

test('names that a failure lists, and what a hook printed, are part of the text', () => {
  const details = {
    dropped: ['1234 docs: oops', '5678 fix: x'],
    output: 'lint failed\n',
    next: 'n',
    missing: ['path'],
  };
  const text = textOf(false, [{ code: 'E_GIT', message: 'Commits since, no path', details }]);
  assert.match(text, /\ndropped:\n {2}1234 docs: oops\n {2}5678 fix: x\noutput:\nlint failed\n/);
  assert.doesNotMatch(text, /missing:/, 'what the message says is not repeated');
});

test('any data is rows, with texts as they are', () => {
  const data = {
    name: 'a',
    count: 2,
    none: null,
    list: ['x', 'y'],
    empty: [],
    text: 'one "quoted"\ntwo\\n',
    rows: [
      { file: 'a.ts', line: 1 },
      { file: 'b.ts', text: 'two\nlines' },
    ],
    inner: { deep: { a: 1 } },
  };
  assert.equal(
    plainRows(data),
    [
      'name: a',
      'count: 2',
      'none: none',
      'list: x, y',
      'empty: none',
      'text:',
      '  one "quoted"',
      '  two\\n',
      'rows:',
      '  - file: a.ts, line: 1',
      '  - file: b.ts',
      '    text:',
      '      two',
      '      lines',
      'inner:',
      '  deep: a: 1',
    ].join('\n'),
  );
});

for (const [value, text] of [
  ['plain', 'plain'],
  [1, '1'],
  [null, 'none'],
  [[], 'none'],
  [{}, 'nothing'],
] as const) {
  test(`${JSON.stringify(value)} is ${text}`, () => assert.equal(plainRows(value), text));
}
