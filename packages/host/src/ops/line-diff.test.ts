import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import fc from 'fast-check';
import { lineDiff } from './line-diff.ts';

describe('lineDiff', () => {
  test('shows three lines around what changed', () => {
    const before = '1\n2\n3\n4\n5\n6\n7\n8\n9\n';
    assert.equal(
      lineDiff(before, before.replace('5\n', 'five\n'), 'a'),
      '--- a\n+++ a\n@@ -2,7 +2,7 @@\n 2\n 3\n 4\n-5\n+five\n 6\n 7\n 8',
    );
    assert.equal(lineDiff('', 'x\n', 'a'), '--- /dev/null\n+++ a\n@@ -0,0 +1,1 @@\n+x');
    assert.equal(lineDiff(before, before, 'a'), '');
  });

  test('shows line ends that differ', () => {
    assert.match(lineDiff('a\r\n', 'a\n', 'f'), /-a\\r\n\+a$/);
    assert.match(lineDiff('a', 'a\n', 'f'), /-a \(no line end\)\n\+a$/);
  });

  test('says exactly what to remove and what to add, for any two texts', () => {
    const text = fc
      .array(fc.constantFrom('a', 'b', 'c', ''), { maxLength: 30 })
      .map((lines) => lines.map((line) => `${line}\n`).join(''));
    fc.assert(
      fc.property(text, text, (before, after) => {
        fc.pre(before !== after);
        const lines = lineDiff(before, after, 'f').split('\n').slice(2);
        assert.equal(apply(before, lines), after);
      }),
    );
  });
});

/** As `patch` would. */
function apply(before: string, lines: readonly string[]): string {
  const old = before.split('\n').slice(0, -1);
  const result: string[] = [];
  let at = 0;
  for (const line of lines) {
    const header = /^@@ -(\d+),(\d+)/.exec(line);
    if (header !== null) {
      const start = Number(header[1]) - (header[2] === '0' ? 0 : 1);
      result.push(...old.slice(at, start));
      at = start;
    } else if (line.startsWith('+')) result.push(line.slice(1));
    else {
      assert.equal(old[at], line.slice(1));
      if (line.startsWith(' ')) result.push(line.slice(1));
      at += 1;
    }
  }
  return [...result, ...old.slice(at)].map((line) => `${line}\n`).join('');
}
