import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import fc from 'fast-check';
import { findPlaces, type MatchLevel } from './edit-ladder.ts';

/** The file after the edit, with the level that placed it; undefined when there is not exactly one place. */
function edited(file: string, old: string, now: string): readonly [MatchLevel, string] | undefined {
  const hits = findPlaces(file, { old, new: now });
  const [place, ...others] = hits?.places ?? [];
  if (hits === undefined || place === undefined || others.length > 0) return undefined;
  return [hits.match, file.slice(0, place.start) + place.text + file.slice(place.end)];
}

describe('findPlaces', () => {
  const table: readonly (readonly [string, string, string, string, MatchLevel, string])[] = [
    ['the exact text', 'a\nb\nc\n', 'b', 'x', 'exact', 'a\nx\nc\n'],
    ['a new line in a file with CRLF', 'x\r\n', 'x', 'x\ny', 'exact', 'x\r\ny\r\n'],
    ['line feeds for CRLF', 'a\r\nb\r\nc\r\n', 'a\nb\n', 'a\nx\n', 'line_ends', 'a\r\nx\r\nc\r\n'],
    ['a byte order mark that is not there', 'a\nb\n', '\ufeffa\nb\n', '\ufeffa\nc\n', 'line_ends', 'a\nc\n'],
    ['lost blanks at the end', 'a  \nb\nc\n', 'a\nb\n', 'a\nx\ny\n', 'trailing', 'a  \nx\ny\nc\n'],
    ['blanks that are not there', 'a\nb\nc\n', 'a \t\nb  \nc', 'a \t\nB  \nc', 'trailing', 'a\nB\nc\n'],
    [
      'a lost indent',
      '  if (a) {\n    b();  \n  }\n',
      'if (a) {\n  b();\n}',
      'if (a) {\n  b();\n  c();\n}',
      'indent',
      '  if (a) {\n    b();  \n    c();\n  }\n',
    ],
    [
      'too much indent',
      '    x = 1\n    y = 2\n',
      '        x = 1\n        y = 2\n',
      '        x = 1\n        z\n',
      'indent',
      '    x = 1\n    z\n',
    ],
    [
      'blanks for tabs',
      '\tif a:\n\t\tb()\n',
      '    if a:\n        b()\n',
      '    if a:\n        c()\n',
      'indent',
      '\tif a:\n\t\tc()\n',
    ],
    [
      'tabs for blanks',
      '  if a:\n    b()\n',
      '\tif a:\n\t\tb()\n',
      '\tif a:\n\t\tc()\n',
      'indent',
      '  if a:\n    c()\n',
    ],
    [
      'blanks for tabs below the end of a line',
      'export function a() {\n\tb();\n\te();\n}\n',
      'function a() {\n    b();\n',
      'function a() {\n    c();\n    d();\n',
      'indent',
      'export function a() {\n\tc();\n\td();\n\te();\n}\n',
    ],
    [
      'plain quotes',
      'say “hi” to – all…\n',
      'say "hi" to - all...',
      'say "hi" to - none...',
      'unicode',
      'say “hi” to – none…\n',
    ],
    ['a no-break space', 'a\u00a0b\nc\n', 'a b\nc', 'a b\nd', 'unicode', 'a\u00a0b\nd\n'],
    [
      'written-out escapes',
      'a = "x"\nb = 1\n',
      'a = \\"x\\"\\nb = 1',
      'a = \\"y\\"\\nb = 1',
      'escape',
      'a = "y"\nb = 1\n',
    ],
  ];
  for (const [title, file, old, now, match, expected] of table) {
    test(`finds ${title}`, () => {
      assert.deepEqual(edited(file, old, now), [match, expected]);
    });
  }

  test('takes the first level with a hit, however many it has', () => {
    assert.deepEqual(
      findPlaces('a\na\n a\n', { old: 'a\n', new: 'b\n' })?.places.map(({ start }) => start),
      [0, 2, 5],
    );
    assert.equal(edited('  a()\n  a()\n', '    a()\n', '    b()\n'), undefined, 'two places by indent');
  });

  test('finds nothing where the words differ, the shift is not the same for all lines, or a new line has no indent', () => {
    assert.equal(findPlaces('let total = 1;\n', { old: 'let totals = 1;', new: 'x' }), undefined);
    assert.equal(findPlaces('  a\n      b\n', { old: 'a\n  b\n', new: 'c\n' }), undefined);
    assert.equal(findPlaces('a\nb\n', { old: '    a\n    b\n', new: '    a\n  c\n' }), undefined);
    const shifted = { old: 'a\n  b\n', new: 'a\n  c\n' };
    assert.equal(findPlaces('  a\n      b\n', shifted), undefined, 'a whole line with another shift');
    assert.equal(findPlaces('bba\n      b\n', shifted), undefined, 'the end of a word');
    assert.equal(findPlaces('x a\n      b\n', shifted)?.match, 'indent');
    assert.equal(findPlaces('x a\n      b\n', { old: 'a\n  b\n', new: 'y\n  c\n' }), undefined, 'a changed end');
  });

  test('does not begin or end inside one character that stands for several', () => {
    assert.equal(findPlaces('wait…', { old: 'wait..', new: 'go' }), undefined);
  });
});

const line = fc.stringMatching(/^[ \t]{0,4}[a-d“”'"{}();=]{0,6}[ \t]{0,2}$/);
const eol = fc.constantFrom('\n', '\r\n');
const fileText = fc
  .tuple(fc.array(line, { minLength: 1, maxLength: 12 }), eol)
  .map(([lines, end]) => lines.map((text) => text + end).join(''));

test('an exact and unique text is replaced as any search and replace would, and nothing else changes', () => {
  fc.assert(
    fc.property(fileText, fc.nat(), fc.nat(), line, (file, from, length, now) => {
      const start = from % file.length;
      const old = file.slice(start, start + 1 + (length % 12));
      fc.pre(file.indexOf(old) === file.lastIndexOf(old) && old !== now);
      assert.deepEqual(edited(file, old, now), ['exact', file.slice(0, start) + now + file.slice(start + old.length)]);
    }),
  );
});

/** What models do to a text that they copy. */
const SPOILS: Readonly<Record<string, (text: string) => string>> = {
  'line feeds only': (text) => text.replaceAll('\r\n', '\n'),
  'no blanks at the end': (text) => text.replace(/[ \t]+(?=\r?\n)/g, ''),
  'more indent': (text) => text.replace(/^(?=[^\r\n])/gm, '    '),
  'plain quotes': (text) => text.replace(/[“”]/g, '"'),
  'written-out line breaks': (text) => text.replaceAll('\n', '\\n'),
};

test('a spoilt copy of whole lines changes those lines or nothing, and lines that stay keep their bytes', () => {
  let placed = 0;
  fc.assert(
    fc.property(
      fc.array(line, { minLength: 2, maxLength: 10 }),
      eol,
      fc.nat(),
      fc.constantFrom(...Object.keys(SPOILS)),
      (lines, end, at, name) => {
        const text = lines.map((one) => one + end).join('');
        const first = at % lines.length;
        const block = lines.slice(first, first + 3);
        const old = SPOILS[name]?.(block.map((one) => one + end).join('')) ?? '';
        const hits = findPlaces(text, { old, new: `${old}added\n` });
        for (const { start, end: stop, text: now } of hits?.places ?? []) {
          assert.ok(now.startsWith(text.slice(start, stop)), 'the lines that stay are those of the file');
          assert.match(now.slice(stop - start), /^[ \t]*added(?:\n|\r\n|\\n)$/);
          placed++;
        }
      },
    ),
    { numRuns: 500 },
  );
  assert.ok(placed > 50, `only ${placed} found a place`);
});

test('no lenient level is used where a stricter one has a place, and places never overlap', () => {
  const seen = new Map<MatchLevel, number>();
  const plain = (text: string) => text.replace(/^\ufeff/, '').replaceAll('\r\n', '\n');
  const stripped = (text: string) => `\n${plain(text).replace(/[ \t]+$/gm, '')}`;
  fc.assert(
    fc.property(
      fc.array(line, { minLength: 2, maxLength: 10 }),
      eol,
      fc.nat(),
      fc.array(fc.constantFrom(...Object.keys(SPOILS)), { maxLength: 2 }),
      (lines, end, at, names) => {
        const file = lines.map((one) => one + end).join('');
        const first = at % lines.length;
        const block = lines.slice(first, first + 2).map((one) => one + end);
        const old = names.reduce((text, name) => SPOILS[name]?.(text) ?? text, block.join(''));
        const hits = findPlaces(file, { old, new: '' });
        if (hits === undefined) return;
        seen.set(hits.match, (seen.get(hits.match) ?? 0) + 1);
        const strictest: MatchLevel[] = file.includes(old)
          ? ['exact']
          : plain(file).includes(plain(old))
            ? ['line_ends']
            : stripped(file).includes(stripped(old))
              ? ['trailing']
              : ['indent', 'unicode', 'escape'];
        assert.ok(strictest.includes(hits.match), `${hits.match} in place of ${strictest.join(', ')}`);
        for (const [number, place] of hits.places.entries()) {
          assert.ok(place.start >= (hits.places[number - 1]?.end ?? 0), 'places do not overlap');
        }
      },
    ),
    { numRuns: 1000 },
  );
  for (const level of ['exact', 'line_ends', 'trailing', 'indent', 'unicode', 'escape'] as const) {
    assert.ok((seen.get(level) ?? 0) > 0, `${level} was never used: ${JSON.stringify([...seen])}`);
  }
});
