import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { isToolError } from '@tool-runtime/protocol';
import fc from 'fast-check';
import { parseUnifiedDiff } from './unified-diff.ts';

function parsed(diff: string) {
  return parseUnifiedDiff(Buffer.from(diff)).files.map((file) => ({
    names: [file.oldName, file.newName],
    is: file.isCreation ? 'creation' : file.isDeletion ? 'deletion' : 'change',
    ...(file.newMode === undefined ? {} : { mode: file.newMode.toString(8) }),
    hunks: file.hunks.map(({ oldStart, added, removed, firstRow, endRow }) => {
      return [oldStart, endRow - firstRow, added, removed];
    }),
  }));
}

function refusal(diff: string): string {
  try {
    parseUnifiedDiff(Buffer.from(diff));
  } catch (thrown) {
    assert.ok(isToolError(thrown) && thrown.code === 'E_VALIDATION_FAIL' && thrown.path === 'unified_diff');
    assert.equal(typeof thrown.details['next'], 'string');
    return thrown.message;
  }
  assert.fail(`should be refused: ${diff}`);
}

const HUNK = '@@ -1,2 +1,2 @@\n a\n-b\n+c\n';

describe('headers of a diff [S0-32]', () => {
  test('git says what is created, deleted and made executable', () => {
    const diff = [
      'diff --git a/new b/new\nnew file mode 100755\nindex 0000000..1\n--- /dev/null\n+++ b/new\n@@ -0,0 +1 @@\n+x\n',
      'diff --git a/old b/old\ndeleted file mode 100644\nindex 1..0000000\n--- a/old\n+++ /dev/null\n@@ -1 +0,0 @@\n-x\n',
      'diff --git a/run b/run\nold mode 100644\nnew mode 100755\n',
      'diff --git a/empty b/empty\nnew file mode 100644\nindex 0000000..e69de29\n',
      `diff --git a/f b/f\nindex 1..2 100644\n--- a/f\n+++ b/f\n${HUNK}`,
    ];
    assert.deepEqual(parsed(diff.join('')), [
      { names: [undefined, 'b/new'], is: 'creation', mode: '755', hunks: [[0, 1, 1, 0]] },
      { names: ['a/old', undefined], is: 'deletion', hunks: [[1, 1, 0, 1]] },
      { names: ['a/run', 'b/run'], is: 'change', mode: '755', hunks: [] },
      { names: ['a/empty', 'b/empty'], is: 'creation', mode: '644', hunks: [] },
      { names: ['a/f', 'b/f'], is: 'change', hunks: [[1, 3, 1, 1]] },
    ]);
  });

  const names: readonly (readonly [string, string | undefined])[] = [
    ['a/plain.txt', 'a/plain.txt'],
    ['file.txt\t2024-01-01 10:00:00.000000000 +0100', 'file.txt'],
    ['a/with space.txt\t', 'a/with space.txt'],
    ['a/crlf.txt\r', 'a/crlf.txt'],
    ['"a/\\303\\251\\t\\"q\\"\\\\.txt"', 'a/é\t"q"\\.txt'],
    ['a/é.txt', 'a/é.txt'],
    ['/dev/null', undefined],
    ['/dev/null\t1970-01-01 01:00:00.000000000 +0100', undefined],
  ];
  for (const [written, name] of names) {
    test(`a name written ${JSON.stringify(written)}`, () => {
      assert.deepEqual(parsed(`--- ${written}\n+++ b/x\n${HUNK}`)[0]?.names, [name, 'b/x']);
    });
  }

  test('the git line alone names files whose content does not change', () => {
    const of = (line: string) => parsed(`diff --git ${line}\nold mode 100644\nnew mode 100755\n`)[0]?.names;
    assert.deepEqual(of('a/x y b/x y'), ['a/x y', 'b/x y']);
    assert.deepEqual(of('"a/\\303\\251" "b/\\303\\251"'), ['a/é', 'b/é']);
    assert.deepEqual(of('a/x "b/\\303\\251"'), ['a/x', 'b/é']);
    assert.deepEqual(of('a/x b/y'), ['a/x', 'b/y']);
    assert.deepEqual(of('a/x y b/z w v'), [undefined, undefined]);
  });

  test('several files and several hunks stay apart', () => {
    const diff = `--- a/1\n+++ b/1\n${HUNK}@@ -9 +9,2 @@\n x\n+y\n--- a/2\n+++ b/2\n${HUNK}Index: 3\n====\n--- 3\n+++ 3\n${HUNK}`;
    assert.deepEqual(
      parsed(diff).map(({ names, hunks }) => [names[0], hunks.length]),
      [
        ['a/1', 2],
        ['a/2', 1],
        ['3', 1],
      ],
    );
  });
});

describe('what is no usable diff is refused with what to do [S0-32]', () => {
  const table: readonly (readonly [string, string])[] = [
    ['hello\n', 'No hunk found in the diff'],
    ['--- a/f\n+++ b/f\n', 'No hunk found in the diff'],
    ['diff --git a/f b/f\nGIT binary patch\nliteral 3\nKcmZ\n', 'Binary patches are not supported: line 2'],
    ['diff --git a/f b/f\nBinary files a/f and b/f differ\n', 'Binary patches are not supported: line 2'],
    [
      `diff --git a/f b/g\nsimilarity index 90%\nrename from f\nrename to g\n--- a/f\n+++ b/g\n${HUNK}`,
      'Renames and copies are not supported in a patch',
    ],
    ['diff --git a/f b/f\nnew file mode 120000\n', 'Only regular files can be patched, not mode 120000'],
    ['diff --cc f\nindex 1,2..3\n', 'Diffs of merges are not supported: line 1'],
    ['--- a/f\n+++ b/f\n@@@ -1 -1 +1 @@@\n  a\n', 'Diffs of merges are not supported: line 3'],
    ['*** Begin Patch\n*** Update File: f\n@@\n-a\n+b\n*** End Patch\n', 'Not a unified diff: line 1'],
    ['@@ -1,2 +1,2 @@\n', 'Hunk has no lines: line 1'],
    ['@@ -1,9 +1,9 @@\n a\nno mark\n-b\n', 'Line of the diff has no mark: line 3'],
    [`${HUNK}@ -9 +9 @\n x\n-y\n`, 'Line of the diff belongs to no hunk: line 5'],
    [`${HUNK}Then:\n-y\n`, 'Line of the diff belongs to no hunk: line 6'],
    ['diff --git a/f b/f\n@ -1 +1 @\n-y\n', 'Line of the diff belongs to no hunk: line 2'],
  ];
  for (const [diff, message] of table) {
    test(message, () => assert.equal(refusal(diff), message));
  }

  test('an empty diff has no files', () => {
    for (const diff of ['', '\n', ' \r\n\n']) assert.deepEqual(parsed(diff), []);
  });

  test('sixteen mebibytes are taken, one byte more is not', () => {
    const limit = 16 * 1024 * 1024;
    const head = Buffer.from('@@ -0,0 +1 @@\n+');
    const diff = Buffer.concat([head, Buffer.alloc(limit - head.length - 1, 'x'), Buffer.from('\n')]);
    assert.equal(parseUnifiedDiff(diff).files.length, 1);
    assert.equal(refusal('x'.repeat(limit + 1)), `Diff is longer than ${limit} bytes: ${limit + 1}`);
    assert.match(refusal('x'.repeat(100_000_000)), /^Diff is longer/);
  });

  test('eight million lines are parsed', () => {
    const count = 8_000_000;
    const { files } = parseUnifiedDiff(Buffer.from(`@@ -0,0 +1,${count} @@\n${'+\n'.repeat(count)}`));
    assert.equal(files[0]?.hunks[0]?.added, count);
  });
});

test('any bytes are parsed or refused as a diff, never anything else [S0-32]', () => {
  const piece = fc.constantFrom(
    '--- a/f\n',
    '+++ b/f\n',
    '@@ -1,2 +1 @@\n',
    '@@',
    ' a\n',
    '-b\n',
    '+c\n',
    '\\ No newline\n',
    '\n',
    '\r\n',
    'x',
    '```\n',
    'diff --git a b\n',
    '"',
    '\\',
    '-- \n2.1\n',
  );
  fc.assert(
    fc.property(
      fc.oneof(
        fc.array(piece).map((all) => Buffer.from(all.join(''))),
        fc.uint8Array(),
      ),
      (bytes) => {
        try {
          parseUnifiedDiff(bytes);
        } catch (thrown) {
          assert.ok(isToolError(thrown) && thrown.code === 'E_VALIDATION_FAIL');
        }
      },
    ),
    { numRuns: 2000 },
  );
});
