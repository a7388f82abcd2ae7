import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { isToolError } from '@tool-runtime/protocol';
import fc from 'fast-check';
import { applyPatch } from './apply-patch.ts';
import { type FilePatch, parseUnifiedDiff } from './unified-diff.ts';

function only(diff: string | Uint8Array): FilePatch {
  const [file, ...more] = parseUnifiedDiff(Buffer.from(diff as string)).files;
  assert.ok(file !== undefined && more.length === 0);
  return file;
}

function patch(before: string, diff: string): string {
  return applyPatch(Buffer.from(before), only(diff)).bytes.toString();
}

function refusal(before: string, diff: string): { message: string; [detail: string]: unknown } {
  const bytes = Buffer.from(before);
  try {
    applyPatch(bytes, only(diff));
  } catch (thrown) {
    assert.ok(isToolError(thrown) && thrown.code === 'E_FILE_IO', String(thrown));
    assert.equal(bytes.toString(), before);
    const { next, ...details } = thrown.details;
    assert.equal(typeof next, 'string');
    return { message: thrown.message, ...details };
  }
  assert.fail('should be refused');
}

const TEN = Array.from({ length: 10 }, (_, index) => `line ${index + 1}\n`).join('');
const changed = TEN.replace('line 5', 'LINE 5');
const BODY = ' line 4\n-line 5\n+LINE 5\n line 6\n';

describe('a hunk with numbers shows both sides of what it inserts', () => {
  const open = '@@ -4,2 +4,3 @@\n line 4\n line 5\n+new\n';

  test('one that shows one side only is refused, and says which line is missing', () => {
    const { reason, line, beside } = refusal(TEN, open);
    assert.deepEqual([reason, line, beside], ['hunk_open', 6, 'line 6']);
    const above = refusal(TEN, '@@ -5,2 +5,3 @@\n+new\n line 5\n line 6\n');
    assert.deepEqual([above['reason'], above['line'], above['beside']], ['hunk_open', 4, 'line 4']);
    const elsewhere = refusal(TEN, open.replace('-4,2', '-40,2'));
    assert.equal(elsewhere['reason'], 'hunk_open');
  });

  test('one that shows both is applied, and so is one at an end of the file', () => {
    const inserted = TEN.replace('line 6', 'new\nline 6');
    assert.equal(patch(TEN, '@@ -4,3 +4,4 @@\n line 4\n line 5\n+new\n line 6\n'), inserted);
    assert.equal(patch(TEN, '@@ -9,2 +9,3 @@\n line 9\n line 10\n+new\n'), `${TEN}new\n`);
    assert.equal(patch(TEN, '@@ -1,2 +1,3 @@\n+new\n line 1\n line 2\n'), `new\n${TEN}`);
  });

  test('what is replaced needs no line behind it, and a hunk without numbers inserts beside its lines', () => {
    assert.equal(patch(TEN, '@@ -4,2 +4,2 @@\n line 4\n-line 5\n+LINE 5\n'), changed);
    assert.equal(patch(TEN, '@@\n line 4\n line 5\n+new\n'), TEN.replace('line 6', 'new\nline 6'));
    assert.equal(patch(TEN, '@@ -5,0 +6 @@\n+new\n'), TEN.replace('line 6', 'new\nline 6'));
  });
});

test('control characters in a refusal are written once', () => {
  const { message } = refusal('a\tb\nc\n', '@@ -1,2 +1,2 @@\n-a\tc\n+x\n c\n');
  assert.match(message, /should be "a\\tc", found "a\\tb"$/);
});

describe('diffs that models write still say what they mean [S0-32]', () => {
  const table: Record<string, string> = {
    'right in every way': `--- a/f\n+++ b/f\n@@ -4,3 +4,3 @@\n${BODY}`,
    'no file header': `@@ -4,3 +4,3 @@\n${BODY}`,
    'one file header': `+++ b/f\n@@ -4,3 +4,3 @@\n${BODY}`,
    'no new range': `@@ -4,3 @@\n${BODY}`,
    'no line numbers': `@@ ... @@\n${BODY}`,
    'nothing but the signs': `@@\n${BODY}`,
    'wrong line': `@@ -1,3 +1,3 @@\n${BODY}`,
    'line past the end': `@@ -400,3 +400,3 @@\n${BODY}`,
    'a section name': `@@ -4,3 +4,3 @@ function five() {\n${BODY}`,
    'no spaces in the header': `@@-4,3 +4,3@@\n${BODY}`,
    'a code fence': `\`\`\`diff\n--- a/f\n+++ b/f\n@@ -4,3 +4,3 @@\n${BODY}\`\`\`\n`,
    'prose around': `Here is the change:\n- it shouts\n\n\`\`\`diff\n@@ -4,3 +4,3 @@\n${BODY}\`\`\`\n- done\n`,
    'no final newline': `@@ -4,3 +4,3 @@\n${BODY}`.trimEnd(),
    'empty lines at the end': `@@ -4,3 +4,3 @@\n${BODY}\n\n`,
    'CRLF throughout': `--- a/f\n+++ b/f\n@@ -4,3 +4,3 @@\n${BODY}`.replaceAll('\n', '\r\n'),
    'an empty line before the hunk': `--- a/f\n+++ b/f\n\n@@ -4,3 +4,3 @@\n${BODY}`,
    'a mail': `From ${'0'.repeat(40)} Mon\nSubject: x\n\n- y\n---\n f | 2 +-\n\ndiff --git a/f b/f\nindex 1..2 100644\n--- a/f\n+++ b/f\n@@ -4,3 +4,3 @@\n${BODY}-- \n2.43.0\n\n`,
  };
  for (const [name, diff] of Object.entries(table)) {
    test(name, () => assert.equal(patch(TEN, diff), changed));
  }

  test('context lines without their space, where the counts agree', () => {
    const file = 'function f() {\n  a();\n  b();\n\n}\n\nend\n';
    const body = 'function f() {\n-  a();\n+  c();\n  b();\n\n}\n';
    const after = file.replace('a()', 'c()');
    assert.equal(patch(file, `@@ -1,5 +1,5 @@\n${body}`), after);
    for (const header of ['@@', '@@ -1,5 +1,4 @@', '@@ -1,4 +1,5 @@']) {
      assert.throws(() => patch(file, `${header}\n${body}`), /has no mark: line 2/, header);
    }
    assert.equal(refusal(file, `@@ -1,5 +1,5 @@\n${body.replace('}', ' }')}`)['reason'], 'hunk_mismatch');
  });

  test('blank context lines without their space', () => {
    const before = 'a\n\nb\n\nc\n';
    assert.equal(patch(before, '@@ -1,5 +1,5 @@\n a\n\n-b\n+B\n\n c\n'), 'a\n\nB\n\nc\n');
    assert.equal(patch(before, '@@ -1,4 +1,4 @@\n a\n\n-b\n+B\n\n'), 'a\n\nB\n\nc\n');
    assert.equal(patch(before, '@@\n a\n\n-b\n+B\n\n c\n'), 'a\n\nB\n\nc\n');
  });

  test('blank context lines that have blanks in the file, which keeps them', () => {
    const before = 'a\n \t\nb\n';
    assert.equal(patch(before, '@@ -1,3 +1,3 @@\n a\n\n-b\n+B\n'), 'a\n \t\nB\n');
    assert.equal(patch(before, '@@ -1,3 +1,3 @@\n a\n \n-b\n+B\n'), 'a\n \t\nB\n');
  });

  test('added lines that look like headers stay lines', () => {
    assert.equal(patch('-- x\n', '@@ -1 +1,2 @@\n--- x\n+++ y\n+@@ z\n'), '++ y\n@@ z\n');
  });
});

describe('a hunk is as long as its header says', () => {
  const table: Record<string, readonly [string, string]> = {
    'fewer lines than stated': [
      '@@ -4,3 +4,3 @@\n line 4\n-line 5\n',
      '2 old and 1 new lines, but its header says 3 old and 3',
    ],
    'counts too small': [`@@ -4,1 +4,1 @@\n${BODY}`, '3 old and 3 new lines, but its header says 1 old and 1'],
    'counts too large': [`@@ -4,30 +4,30 @@\n${BODY}`, '3 old and 3 new lines, but its header says 30 old and 30'],
    'one count wrong': [`@@ -4,3 +4,4 @@\n${BODY}`, '3 old and 3 new lines, but its header says 3 old and 4'],
    'counts left out, which means one': [
      `@@ -4 +4 @@\n${BODY}`,
      '3 old and 3 new lines, but its header says 1 old and 1',
    ],
    'one range, with a wrong count': [
      `@@ -4,2 @@\n${BODY}`,
      '3 old and 3 new lines, but its header says 2 old and any',
    ],
    'wrong in a code fence': [
      `\`\`\`diff\n@@ -4,9 +4,9 @@\n${BODY}\`\`\`\n`,
      '3 old and 3 new lines, but its header says 9 old and 9',
    ],
    'wrong, with empty lines behind': [
      `@@ -4,1 +4,1 @@\n${BODY}\n\n`,
      '3 old and 3 new lines, but its header says 1 old and 1',
    ],
  };
  for (const [name, [diff, message]] of Object.entries(table)) {
    test(name, () => {
      assert.throws(
        () => only(diff),
        (thrown) => {
          assert.ok(isToolError(thrown) && thrown.code === 'E_VALIDATION_FAIL');
          assert.match(thrown.message, new RegExp(`^Hunk 1 has ${message} new lines: line \\d$`));
          assert.deepEqual([thrown.details['reason'], thrown.details['hunk']], ['hunk_counts', 1]);
          assert.match(String(thrown.details['next']), /send all of it.*correct the counts/);
          return true;
        },
      );
    });
  }

  test('the hunk is named when an earlier one is complete', () => {
    const two = `@@ -1,2 +1,2 @@\n-line 1\n+ONE\n line 2\n@@ -9,2 +9,2 @@\n line 9\n`;
    assert.throws(() => only(two), /^ToolError: Hunk 2 has 1 old and 1 new lines.*line 5$/);
    assert.equal(patch(TEN, `${two}-line 10\n+TEN\n`), TEN.replace('line 1\n', 'ONE\n').replace('line 10', 'TEN'));
  });

  test('an added line without its line feed is refused, as it may be half a line', () => {
    const diff = '@@ -1 +1,2 @@\n line 1\n+and a ha';
    assert.throws(() => only(diff), /Diff ends in the middle of an added line of hunk 1: line 3/);
    assert.equal(patch('line 1\n', `${diff}lf\n`), 'line 1\nand a half\n');
  });

  test('a line of the file without its line feed must be at the stated line', () => {
    const diff = '@@ -1,2 +1,2 @@\n-a\n+b\n li';
    assert.equal(refusal('a\nlist\na\nli\n', diff)['reason'], 'diff_cut');
    assert.equal(patch('a\nlist\na\nli\n', `${diff}st`), 'b\nlist\na\nli\n');
    assert.equal(patch('x\na\nli\n', `${diff}\n`), 'x\nb\nli\n');
  });

  test('what is left of a remark or a header is refused', () => {
    for (const rest of ['\\', '@', '@@', '@@ -9', '@@ -9,2 +9,2 @@\n']) {
      assert.throws(() => only(`@@ -4,3 +4,3 @@\n${BODY}${rest}`), /belongs to no hunk|Hunk has no lines/, rest);
    }
    assert.throws(() => only('diff --git a/f b/f\nold mode 100644\nnew mode 1007'), /Not a file mode: 1007/);
  });
});

describe('the place of a hunk [S0-32]', () => {
  test('is found where the context moved to, and the offset is told', () => {
    const before = `new\n${'x\n'.repeat(40)}${TEN}`;
    const { bytes, hunks } = applyPatch(
      Buffer.from(before),
      only(`@@ -4,3 +4,3 @@\n${BODY}@@ -9,2 +9,1 @@\n line 9\n-line 10\n`),
    );
    assert.equal(bytes.toString(), before.replace('line 5', 'LINE 5').replace('line 10\n', ''));
    assert.deepEqual(hunks, [
      { hunk: 1, line: 45, offset: 41, added: 1, removed: 1, match: 'exact' },
      { hunk: 2, line: 50, offset: 41, added: 0, removed: 1, match: 'exact' },
    ]);
  });

  test('is the stated one when there are several', () => {
    const before = 'a\nb\na\nb\na\nb\n';
    assert.equal(patch(before, '@@ -3,2 +3,2 @@\n a\n-b\n+B\n'), 'a\nb\na\nB\na\nb\n');
  });

  test('is the one below the hunk before, when that leaves only one', () => {
    const before = 'x\na\nb\ny\na\nb\n';
    assert.equal(patch(before, '@@\n y\n-a\n+A\n@@\n-b\n+B\n'), 'x\na\nb\ny\nA\nB\n');
  });

  test('must be the end of the file for a line without newline', () => {
    const diff = '@@ -1 +1 @@\n-a\n+b\n\\ No newline at end of file\n';
    assert.equal(patch('a\nc\na\n', diff), 'a\nc\nb');
    assert.equal(refusal('a\nc\n', diff)['reason'], 'hunk_mismatch');
  });

  test('is not guessed when two places are equally good', () => {
    const { message, ...details } = refusal('a\nb\nc\na\nb\n', '@@ -3,2 +3,2 @@\n a\n-b\n+B\n');
    assert.equal(message, 'Hunk 1 fits more than one place: lines 1, 4');
    assert.deepEqual(details, { hunk: 1, stated_line: 3, reason: 'hunk_ambiguous', candidates: [1, 4] });
  });
});

describe('a hunk that does not fit [S0-32]', () => {
  test('names itself, the line it wanted, the line that is there and the nearest place', () => {
    const diff = `@@ -1,2 +1,2 @@\n-line 1\n+one\n line 2\n@@ -7,4 +7,4 @@\n line 7\n-line eight\n+8\n line 9\n line 10\n`;
    const { message, ...details } = refusal(TEN, diff);
    assert.equal(message, 'Hunk 2 does not match the file: line 8 should be "line eight", found "line 8"');
    assert.deepEqual(details, {
      hunk: 2,
      stated_line: 7,
      reason: 'hunk_mismatch',
      line: 8,
      expected: 'line eight',
      found: 'line 8',
      nearest_line: 7,
      nearest_matching: 3,
      nearest_of: 4,
    });
  });

  test('finds the nearest place far from the stated one, through other indentation', () => {
    const before = `${'x\n'.repeat(30)}  if (a) {\n      b();\n  }\n`;
    const details = refusal(before, '@@ -1,3 +1,3 @@\n if (a) {\n-  b();\n+  c();\n }\n');
    assert.deepEqual(
      [details['line'], details['expected'], details['found'], details['nearest_line'], details['nearest_matching']],
      [31, 'if (a) {', '  if (a) {', 31, 3],
    );
  });

  test('says so when the file ends too early or is empty', () => {
    assert.equal(refusal('', '@@ -1 +1 @@\n-a\n+b\n')['found'], null);
    const { line, found } = refusal('a\nb\n', '@@ -1,3 +1,3 @@\n a\n b\n-c\n+d\n');
    assert.deepEqual([line, found], [3, null]);
  });

  test('says so when it is in the file already', () => {
    const { message, reason } = refusal(changed, `@@ -4,3 +4,3 @@\n${BODY}`);
    assert.deepEqual([message, reason], ['Hunk 1 is in the file already: line 4', 'already_applied']);
  });

  test('cuts long lines and hides control characters in what it tells', () => {
    const { expected, found } = refusal(`${'f'.repeat(5000)}\n`, `@@ -1 +1 @@\n-\u001b[31m${'e'.repeat(5000)}\n+x\n`);
    assert.equal(found, `${'f'.repeat(159)}…`);
    assert.ok(String(expected).startsWith('\\u{1b}[31meee') && String(expected).length < 200);
  });

  test('is refused when it overlaps the hunk before or stands in the wrong order', () => {
    const first = `@@ -4,3 +4,3 @@\n${BODY}`;
    const { message, reason } = refusal(TEN, `${first}@@ -6,2 +6,2 @@\n line 6\n-line 7\n+7\n`);
    assert.deepEqual([message, reason], ['Hunk 2 lies before the end of the hunk above it: line 6', 'hunk_order']);
    assert.equal(refusal(TEN, `${first}@@ -1,2 +1,2 @@\n-line 1\n+1\n line 2\n`)['reason'], 'hunk_order');
    assert.equal(patch(TEN, `${first}@@ -7 +7 @@\n-line 7\n+7\n`), changed.replace('line 7', '7'));
  });

  test('is refused when it adds lines and shows none to find its place by', () => {
    for (const header of ['@@', '@@ -11,0 +12 @@']) {
      assert.equal(refusal(TEN, `${header}\n+new\n`)['reason'], 'hunk_unplaced', header);
    }
    assert.equal(patch(TEN, '@@ -10,0 +11 @@\n+new\n'), `${TEN}new\n`);
    assert.equal(patch(TEN, '@@ -0,0 +1 @@\n+new\n'), `new\n${TEN}`);
    const moved = `@@ -4,3 +4,3 @@\n${BODY}@@ -9,0 +10 @@\n+new\n`;
    assert.equal(refusal(`x\n${TEN}`, moved)['reason'], 'hunk_unplaced');
  });

  test('gives up on a diff of a hundred thousand misplaced hunks in bounded time (deep)', () => {
    const before = Array.from({ length: 100_000 }, (_, index) => `${index}\n`).join('');
    const diff = Array.from(
      { length: 100_000 },
      (_, index) => `@@ -${(index * 7919) % 99_999} +1 @@\n-${index}\n+x\n`,
    ).join('');
    assert.equal(refusal(before, diff)['reason'], 'search_limit');
  });

  test('is told in bounded time when all lines are equal', () => {
    const before = '}\n'.repeat(200_000);
    const diff = `@@ -9,100001 +9,100000 @@\n${' }\n'.repeat(100_000)}-x\n`;
    assert.equal(refusal(before, diff)['reason'], 'hunk_mismatch');
    assert.equal(refusal(before, `@@\n${' }\n'.repeat(100_000)}-}\n`)['reason'], 'hunk_ambiguous');
  });
});

describe('line ends and the end of the file [S0-32]', () => {
  const crlf = TEN.replaceAll('\n', '\r\n');

  test('added lines end as the file does when the diff knows only LF', () => {
    const { bytes, hunks } = applyPatch(Buffer.from(crlf), only(`@@ -4,3 +4,3 @@\n${BODY}`));
    assert.equal(bytes.toString(), crlf.replace('line 5', 'LINE 5'));
    assert.equal(hunks[0]?.match, 'line_ends');
    assert.equal(patch(crlf, '@@ -2,0 +3 @@\n+new\n'), crlf.replace('line 3', 'new\r\nline 3'));
  });

  test('added lines end as the file does when the diff knows only CRLF', () => {
    const carriaged = (diff: string) => diff.replaceAll('\n', '\r\n');
    assert.equal(patch(TEN, carriaged('@@ -2,0 +3 @@\n+new\n')), TEN.replace('line 3', 'new\nline 3'));
    assert.equal(patch(crlf, carriaged(`@@ -4,3 +4,3 @@\n${BODY}`)), crlf.replace('line 5', 'LINE 5'));
  });

  test('in a file of both kinds each added line ends as the line above it', () => {
    const diff = '@@ -1,4 +1,6 @@\n a\n+1\n b\n+2\n c\n-d\n+D\n';
    assert.equal(patch('a\r\nb\nc\r\nd\n', diff), 'a\r\n1\r\nb\n2\nc\r\nD\n');
  });

  test('before a single line without an end, lines go in as they are written', () => {
    assert.equal(patch('only', '@@ -0,0 +1,2 @@\n+a\r\n+b\n'), 'a\r\nb\nonly');
    assert.equal(patch('only', '@@ -0,0 +1 @@\r\n+a\r\n'), 'a\nonly');
    assert.equal(patch('only', '@@ -1,0 +2 @@\n+a\n'), 'only\na');
  });

  test('a diff may change the line ends themselves', () => {
    assert.equal(patch('a\r\nb\n', '@@ -1,2 +1,2 @@\n-a\r\n+a\n b\n'), 'a\nb\n');
  });

  const cases: readonly (readonly [string, string, string, string, string?])[] = [
    ['adds the newline', 'a', '-a\n\\ No newline at end of file\n+a\n', 'a\n'],
    ['takes the newline away', 'a\n', '-a\n+a\n\\ No newline at end of file\n', 'a'],
    ['keeps it missing', 'a', '-a\n\\ No newline at end of file\n+b\n\\ No newline at end of file\n', 'b'],
    ['says nothing, and the file has none', 'a', '-a\n+b\n', 'b'],
    ['says nothing and adds behind a line without newline', 'a', ' a\n+b\n', 'a\nb', '-1 +1,2'],
    ['says nothing and adds behind such a line with CRLF above', 'x\r\na', ' x\n a\n+b\n', 'x\r\na\r\nb', '-1,2 +1,3'],
    ['says nothing and removes the last line', 'a\nb', ' a\n-b\n', 'a\n', '-1,2 +1'],
    [
      'claims that there is none on both sides',
      'a\n',
      '-a\n\\ No newline at end of file\n+b\n\\ No newline at end of file\n',
      'b\n',
    ],
    ['adds a newline that is there', 'a\n', '-a\n\\ No newline at end of file\n+b\n', 'b\n'],
    ['takes a newline away that is not there', 'a', '-a\n+b\n\\ No newline at end of file\n', 'b'],
  ];
  for (const [name, before, body, after, range = '-1 +1'] of cases) {
    test(`the diff ${name}`, () => assert.equal(patch(before, `@@ ${range} @@\n${body}`), after));
  }

  test('of two equal lines at the end the one without newline goes, where it is the stated one', () => {
    const removal = (header: string) => `${header}\n-a\n\\ No newline at end of file\n`;
    assert.equal(patch('x\na\na', removal('@@ -3,1 +2,0 @@')), 'x\na\n');
    assert.equal(patch('x\na\na\n', '@@ -3,1 +2,0 @@\n-a\n'), 'x\na\n');
  });

  test('two insertions before the first line keep their order', () => {
    assert.equal(patch('x\n', '@@ -0,0 +1,1 @@\n+a\n@@ -0,0 +2,2 @@\n+b\n+c\n'), 'a\nb\nc\nx\n');
  });

  test('a byte order mark stays where it is', () => {
    assert.equal(patch('\ufeffa\nb\n', '@@ -2 +2 @@\n-b\n+c\n'), '\ufeffa\nc\n');
    assert.equal(patch('\ufeffa\n', '@@ -1 +1 @@\n-\ufeffa\n+\ufeffb\n'), '\ufeffb\n');
  });
});

describe('creation and deletion [S0-32]', () => {
  const creation = '--- /dev/null\n+++ b/f\n@@ -0,0 +1,2 @@\n+a\n+b\n';

  test('a creation needs nothing and gives the added lines', () => {
    assert.equal(patch('', creation), 'a\nb\n');
    assert.equal(patch('', `${creation}\\ No newline at end of file\n`), 'a\nb');
  });

  test('a deletion takes every line or nothing', () => {
    const deletion = '--- a/f\n+++ /dev/null\n@@ -1,2 +0,0 @@\n-a\n-b\n';
    assert.equal(patch('a\nb\n', deletion), '');
    assert.equal(refusal('a\nb\nc\n', deletion)['reason'], 'deletion_incomplete');
  });
});

test('bytes outside the changed lines are those of the file, wherever the lines have moved [S0-32]', () => {
  const line = fc
    .uint8Array({ maxLength: 6 })
    .map((bytes) => Buffer.from([...bytes.filter((byte) => byte !== 10), 10]));
  fc.assert(
    fc.property(fc.array(line), fc.array(line), fc.nat({ max: 50 }), (above, below, stated) => {
      const middle = Buffer.from('unique above\nold \xff\nunique below\n', 'latin1');
      const diff = Buffer.from(
        `@@ -${stated},3 +1,3 @@\n unique above\n-old \xff\n+new \xfe\n unique below\n`,
        'latin1',
      );
      const { bytes } = applyPatch(Buffer.concat([...above, middle, ...below]), only(diff));
      const wanted = Buffer.from('unique above\nnew \xfe\nunique below\n', 'latin1');
      assert.deepEqual(bytes, Buffer.concat([...above, wanted, ...below]));
    }),
  );
});

describe('lines that fit by a lenient level', () => {
  const level = (before: string, diff: string): readonly [string | undefined, string] => {
    const { bytes, hunks } = applyPatch(Buffer.from(before), only(diff));
    return [hunks[0]?.match, bytes.toString()];
  };

  test("are placed where one place fits, with the file's own bytes in context lines", () => {
    const table: readonly (readonly [string, string, string, string])[] = [
      ['a  \nb\t\nc\n', '@@\n a\n-b\n+x\n c\n', 'trailing', 'a  \nx\nc\n'],
      [
        '  if (a) {\n    b();\n  }\n',
        '@@ -9,3 +9,4 @@\n if (a) {\n   b();\n+  c();\n }\n',
        'indent',
        '  if (a) {\n    b();\n    c();\n  }\n',
      ],
      ['\tif a:\n\t\tb()\n', '@@\n     if a:\n-        b()\n+        c()\n', 'indent', '\tif a:\n\t\tc()\n'],
      ['say “hi”\nend\n', '@@\n-say "hi"\n+say "ho"\n end\n', 'unicode', 'say “ho”\nend\n'],
      ['\ufeffa\nb\n', '@@ -1,2 +1,2 @@\n-a\n+x\n b\n', 'line_ends', '\ufeffx\nb\n'],
      ['a  \r\nb', '@@\n a\n-b\n+c\n', 'trailing', 'a  \r\nc'],
    ];
    for (const [before, diff, match, after] of table) assert.deepEqual(level(before, diff), [match, after], diff);
  });

  test('are refused where two places fit, whatever number the hunk has, and where a word differs', () => {
    const twice = '  a()\n  b()\n  a()\n  b()\n';
    assert.deepEqual(refusal(twice, '@@ -3,2 +3,2 @@\n a()\n-b()\n+c()\n')['candidates'], [1, 3]);
    assert.equal(refusal('  a()\n  b()\n', '@@\n a()\n-bb()\n+c()\n')['reason'], 'hunk_mismatch');
  });

  test('never begin or end inside a line', () => {
    assert.equal(refusal('x a()\n', '@@\n-a()\n+c()\n')['reason'], 'hunk_mismatch');
  });
});
