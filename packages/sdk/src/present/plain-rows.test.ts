import assert from 'node:assert/strict';
import { test } from 'node:test';
import { plainRows } from './plain-rows.ts';

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
