import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { parseConflictMarkers } from './parse-conflict-markers.ts';

const line = fc.constantFrom(
  'text',
  '',
  '======',
  '<<<<<< six',
  '=======x',
  '========',
  '  <<<<<<< indented',
  '|||||| six',
);
const lines = fc.array(line, { maxLength: 4 });
const hunk = fc.record({
  before: lines,
  ours: lines,
  base: fc.option(lines),
  theirs: lines,
  size: fc.constantFrom(7, 9),
});
const joined = (parts: readonly string[]) => parts.map((part) => `${part}\n`).join('');

test('finds exactly the conflicts that were written, whatever else looks like a marker [S0-47]', () => {
  fc.assert(
    fc.property(fc.array(hunk, { maxLength: 4 }), (hunks) => {
      let text = '';
      const wanted = hunks.map(({ before, ours, base, theirs, size }) => {
        text += joined(before);
        const start_line = text.split('\n').length;
        const mark = (sign: string) => sign.repeat(size);
        text += `${mark('<')} HEAD\n${joined(ours)}${base === null ? '' : `${mark('|')} base\n${joined(base)}`}`;
        text += `${mark('=')}\n${joined(theirs)}${mark('>')} other\n`;
        const end_line = text.split('\n').length - 1;
        return {
          start_line,
          end_line,
          ours: joined(ours),
          base: base === null ? null : joined(base),
          theirs: joined(theirs),
        };
      });
      assert.deepEqual(parseConflictMarkers(text), wanted);
    }),
  );
});

test('lines end as they do in the file, and an unfinished conflict does not count [S0-47]', () => {
  const [found] = parseConflictMarkers('<<<<<<< a\r\no\r\n=======\r\nt\r\n>>>>>>> b\r\n');
  assert.deepEqual([found?.ours, found?.theirs], ['o\r\n', 't\r\n']);
  for (const text of ['', '<<<<<<< a\no\n=======\nt\n', '=======\n>>>>>>> b\n', '<<<<<<< a\n>>>>>>> b\n']) {
    assert.deepEqual(parseConflictMarkers(text), [], JSON.stringify(text));
  }
});

test('conflicts inside a base of longer markers are its content [S0-47]', () => {
  const inner = '<<<<<<<<< x\n1\n=========\n2\n>>>>>>>>> y\n';
  const [found] = parseConflictMarkers(`<<<<<<< a\no\n||||||| merged\n${inner}=======\nt\n>>>>>>> b\n`);
  assert.deepEqual([found?.ours, found?.base, found?.theirs], ['o\n', inner, 't\n']);
});
