import assert from 'node:assert/strict';
import { test } from 'node:test';
import { readEdits } from './edit-fix.ts';

test('edits are read with the file and the end line that they leave out', () => {
  assert.deepEqual(readEdits({ path: 'a.ts', fix: { edits: [{ start_line: 2, new_text: 'x' }] } }), [
    { file: 'a.ts', startLine: 2, endLine: 2, newText: 'x' },
  ]);
  const edit = { file: 'b.ts', start_line: 1, start_col: 3, end_line: 2, end_col: 1, new_text: '' };
  assert.deepEqual(readEdits({ path: 'a.ts', fix: { edits: [edit] } }), [
    { file: 'b.ts', startLine: 1, startColumn: 3, endLine: 2, endColumn: 1, newText: '' },
  ]);
});

test('a fix with one edit that cannot be read is no edit', () => {
  const good = { start_line: 2, new_text: 'x' };
  for (const bad of [
    7,
    {},
    { start_line: 0, new_text: 'x' },
    { start_line: 1.5, new_text: 'x' },
    { start_line: 2, end_line: 1, new_text: 'x' },
    { start_line: 2 },
    { start_line: 2, start_col: 1, new_text: 'x' },
    { start_line: 2, start_col: 4, end_col: 3, new_text: 'x' },
    { start_line: 2, file: '', new_text: 'x' },
  ]) {
    assert.equal(readEdits({ path: 'a.ts', fix: { edits: [good, bad] } }), undefined, JSON.stringify(bad));
  }
  assert.equal(readEdits({ fix: { edits: [good] } }), undefined);
  assert.equal(readEdits({ path: 'a.ts', fix: { edits: [] } }), undefined);
  assert.equal(readEdits({ path: 'a.ts', fix: { command: 'npm run format' } }), undefined);
  assert.equal(readEdits({ path: 'a.ts' }), undefined);
});
