import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import fc from 'fast-check';
import { joinArgv } from './join-argv.ts';
import { parseCommandLine } from './read-command.ts';

describe('joinArgv', () => {
  const rows: [string[], string][] = [
    [['npm', 'test'], 'npm test'],
    [['npm test'], "'npm test'"],
    [['npm', ''], "npm ''"],
    [['rg', "it's"], `rg 'it'"'"'s'`],
    [['rg', '-g', '*.ts', 'a|b'], "rg -g '*.ts' 'a|b'"],
    [['rg', 'größe', 'a=b', 'HEAD~1', 'a#b'], 'rg größe a=b HEAD~1 a#b'],
    [['rg', '#a', '~', '!b', 'a=~'], "rg '#a' '~' '!b' 'a=~'"],
    [['a', 'b\u00a0c', 'd\ne'], "a 'b\u00a0c' 'd\ne'"],
  ];
  for (const [argv, expected] of rows) {
    test(`${JSON.stringify(argv)} is ${expected} [S0-12]`, () => {
      assert.equal(joinArgv(argv), expected);
    });
  }

  const word = fc.oneof(
    fc.stringMatching(/^[a' "\\\t]{0,4}$/),
    fc.stringMatching(/^[ -~]{0,8}$/),
    fc.string({ unit: 'grapheme', maxLength: 4 }),
    fc.string({ unit: 'binary', maxLength: 3 }),
  );
  const argv = fc.array(word, { minLength: 1, maxLength: 4 });

  test('different lists have different texts [S0-12]', () => {
    fc.assert(
      fc.property(argv, argv, (left, right) => {
        const same = left.length === right.length && left.every((text, index) => text === right[index]);
        assert.equal(joinArgv(left) === joinArgv(right), same);
      }),
      { numRuns: 20_000 },
    );
  });

  test('no two of all short lists over a nasty alphabet share a text [S0-12]', () => {
    const words = [''];
    for (let length = 1, last = words; length <= 3; length++) {
      last = last.flatMap((head) => ["'", '"', ' ', 'a'].map((tail) => head + tail));
      words.push(...last);
    }
    const texts = new Set<string>();
    let count = 0;
    const add = (...list: string[]) => {
      texts.add(joinArgv(list));
      count++;
    };
    for (const first of words) {
      add(first);
      for (const second of words) add(first, second);
    }
    for (const first of words.slice(0, 21))
      for (const second of words.slice(0, 21)) for (const third of words.slice(0, 21)) add(first, second, third);
    assert.equal(texts.size, count);
  });

  test('the text, read as a command line, gives the words back [S0-12]', () => {
    const readable = fc.array(fc.oneof(fc.stringMatching(/^[ -~\t]{0,8}$/), fc.stringMatching(/^[a-zé' =:~]{0,6}$/)), {
      maxLength: 4,
    });
    fc.assert(
      fc.property(readable, (words) => {
        const list = ['x', ...words];
        assert.deepEqual(parseCommandLine(joinArgv(list)).pipelines, [
          { operator: null, commands: [{ argv: list, column: 1 }] },
        ]);
      }),
      { numRuns: 5000 },
    );
  });
});
