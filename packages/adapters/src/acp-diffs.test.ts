import assert from 'node:assert/strict';
import { test } from 'node:test';
import { readHunks } from './acp-diffs.ts';

const DIFF = `--- a/src/one.ts
+++ b/src/one.ts
@@ -3,3 +3,3 @@
 keep
--- old
+++ new
 keep too
@@ -20 +20,2 @@
-last
+last
+more
\\ No newline at end of file
--- /dev/null
+++ b/two.ts
@@ -0,0 +1,1 @@
+born
`;

test('every hunk is a text before and after, with its file and line', () => {
  assert.deepEqual(readHunks(DIFF), [
    {
      oldPath: 'src/one.ts',
      newPath: 'src/one.ts',
      isCreation: false,
      line: 3,
      before: 'keep\n-- old\nkeep too',
      after: 'keep\n++ new\nkeep too',
    },
    { oldPath: 'src/one.ts', newPath: 'src/one.ts', isCreation: false, line: 20, before: 'last', after: 'last\nmore' },
    { oldPath: undefined, newPath: 'two.ts', isCreation: true, line: 1, before: '', after: 'born' },
  ]);
});

test('what is no diff has no hunks, and a hunk that is cut off ends with the text', () => {
  assert.deepEqual(readHunks('hello\nworld'), []);
  assert.equal(readHunks('@@ -1,9 +1,9 @@\n a')[0]?.before, 'a');
});
