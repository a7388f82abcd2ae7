import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, test } from 'node:test';
import fc from 'fast-check';
import { lineDiff } from './line-diff.ts';

describe('the difference of two texts', () => {
  test('shows changed lines with three lines around them and where they stand', () => {
    const before = '1\n2\n3\n4\n5\n6\n7\n8\n9\n';
    assert.equal(lineDiff(before, before.replace('5', 'five')), '@@ -2,7 +2,7 @@\n 2\n 3\n 4\n-5\n+five\n 6\n 7\n 8\n');
    assert.equal(lineDiff(before, before), '');
    assert.equal(lineDiff('', 'a\nb\n'), '@@ -0,0 +1,2 @@\n+a\n+b\n');
    assert.equal(lineDiff('a\n', ''), '@@ -1 +0,0 @@\n-a\n');
    assert.equal(lineDiff('a', 'a\n'), '@@ -1 +1 @@\n-a\n\\ No newline at end of file\n+a\n');
    assert.equal(lineDiff('1\n'.repeat(20), `0\n${'1\n'.repeat(20)}2\n`).split('@@ -').length, 3);
  });

  test('says of a change in the middle of a long text which lines it is in, wherever in them it begins and ends', () => {
    const lines = Array.from({ length: 3000 }, (_, at) => `line ${at + 1} of ${'many '.repeat(at % 7)}\n`);
    const before = lines.join('');
    const context = (from: number, to: number) =>
      lines
        .slice(from - 1, to)
        .map((line) => ` ${line}`)
        .join('');
    const line = lines[1999] ?? '';
    const changes: readonly [number, string[], string[]][] = [
      [2000, [line], [line.replace('l', 'L')]],
      [2000, [line], []],
      [2001, [], [line]],
      [2000, [line], [line.replace('\n', '\r\n'), '\n']],
    ];
    for (const [at, removed, added] of changes) {
      const after = [...lines.slice(0, at - 1), ...added, ...lines.slice(at - 1 + removed.length)].join('');
      const [minus, plus] = [removed.map((line) => `-${line}`), added.map((line) => `+${line}`)];
      const header = `@@ -${at - 3},${6 + removed.length} +${at - 3},${6 + added.length} @@\n`;
      const next = at + removed.length;
      const shown = [context(at - 3, at - 1), ...minus, ...plus, context(next, next + 2)].join('');
      assert.equal(lineDiff(before, after), header + shown);
    }
  });

  test('loses no line: what is kept and removed is the old text, what is kept and added the new one', () => {
    const text = fc.array(fc.constantFrom('a', 'b', 'c', ''), { maxLength: 6 }).map((lines) => lines.join('\n'));
    fc.assert(
      fc.property(text, text, (before, after) => {
        const shown = lineDiff(before, after).replaceAll('\n\\ No newline at end of file', '~').split('\n');
        const side = (marks: string) =>
          shown.filter((line) => marks.includes(line[0] ?? '@')).map((line) => line.slice(1));
        const lines = (whole: string) => {
          const found = whole.split('\n');
          if (found.at(-1) === '') return found.slice(0, -1);
          return [...found.slice(0, -1), `${found.at(-1)}~`];
        };
        if (before === after) assert.deepEqual(shown, ['']);
        else {
          // Short texts are shown whole as long as every line is near a change.
          const isSubsequence = (part: string[], whole: string[]) => {
            let at = 0;
            for (const line of whole) if (line === part[at]) at++;
            return at === part.length;
          };
          assert.ok(isSubsequence(side(' -'), lines(before)));
          assert.ok(isSubsequence(side(' +'), lines(after)));
          assert.equal(side('-').length - side('+').length, lines(before).length - lines(after).length);
        }
      }),
      { seed: 20261116, numRuns: 500 },
    );
  });

  test('of texts that differ in very many lines the changed part is shown as a whole', () => {
    const many = (word: string) => Array.from({ length: 3000 }, (_, at) => `${word}${at}\n`).join('');
    const shown = lineDiff(`same\n${many('a')}`, `same\n${many('b')}`).split('\n');
    assert.deepEqual(shown.slice(0, 4), ['@@ -1,3001 +1,3001 @@', ' same', '-a0', '-a1']);
    assert.equal(shown.filter((line) => line.startsWith('+')).length, 3000);
  });

  test('is a diff that git applies', (t) => {
    const folder = mkdtempSync(join(tmpdir(), 'line-diff-'));
    t.after(() => rmSync(folder, { recursive: true, force: true }));
    const file = join(folder, 'f');
    const text = fc
      .array(fc.constantFrom('a', 'b', 'c', ''), { minLength: 1, maxLength: 24 })
      .map((lines) => `${lines.join('\n')}\n`);
    fc.assert(
      fc.property(text, text, (before, after) => {
        fc.pre(before !== after);
        writeFileSync(file, before);
        const input = `--- a/f\n+++ b/f\n${lineDiff(before, after)}`;
        execFileSync('git', ['apply', '--whitespace=nowarn', '-'], { cwd: folder, input });
        assert.equal(readFileSync(file, 'utf8'), after);
      }),
      { numRuns: 40 },
    );
  });
});
