import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import fc from 'fast-check';
import type { ShownPart, TextPart } from '../contracts/tool-text.ts';
import { fitParts } from './fit-parts.ts';

const LIMIT = '100 tokens';

function cutOnce(part: Omit<TextPart, 'type' | 'rest'>, bytes: number): { text: string; shown: ShownPart | undefined } {
  let shown: ShownPart | undefined;
  const rest = (given: ShownPart): string => {
    shown = given;
    return 'more {}';
  };
  const { texts } = fitParts([{ type: 'text', ...part, rest }], { bytes, limit: LIMIT });
  return { text: texts.join('\n'), shown };
}

describe('texts that fit', () => {
  test('are whole, without the last line end', () => {
    const { texts, isCut } = fitParts(
      [
        { type: 'text', text: 'a\nb\n' },
        { type: 'text', text: ['c', 'd'] },
      ],
      { bytes: 100, limit: LIMIT },
    );
    assert.deepEqual([texts, isCut], [['a\nb', 'c\nd'], false]);
  });
});

describe('a text that is too long', () => {
  const lines = Array.from({ length: 500 }, (_, at) => `line ${at + 1}`).join('\n');

  test('is cut after a whole line and names the lines, the limit and the call', () => {
    const { text, shown } = cutOnce({ text: lines }, 1000);
    assert.match(
      text,
      /\nline (\d+)\n\[cut: lines 1 to \1 of 500 shown, about \d+ of \d+ tokens, limit 100 tokens\. Rest: more \{\}\]$/,
    );
    assert.ok(text.startsWith('line 1\n') && shown !== undefined);
    assert.equal(lines.slice(shown.bytes).split('\n')[0], `line ${shown.items + 1}`);
  });

  test('keeps both ends where the end matters', () => {
    const { text } = cutOnce({ text: lines, keep: 'ends' }, 1000);
    assert.match(text, /^line 1\n.*\n\[cut: lines (\d+) to (\d+) of 500 left out here, .*\]\n.*\nline 500$/s);
    const [, first, last] = /lines (\d+) to (\d+) of/.exec(text) ?? [];
    assert.ok(text.includes(`\nline ${Number(first) - 1}\n[cut`) && text.includes(`]\nline ${Number(last) + 1}\n`));
  });

  test('of one line is cut inside of it, by bytes', () => {
    const { text, shown } = cutOnce({ text: 'ä'.repeat(5000) }, 1000);
    assert.match(text, /^ä+\n\[cut: \d+ of 10000 bytes shown/);
    assert.equal(shown?.items, 0);
  });

  test('leaves the others whole', () => {
    const parts: TextPart[] = [
      { type: 'text', text: 'short' },
      { type: 'text', text: lines },
    ];
    const { texts, isCut } = fitParts(parts, { bytes: 1000, limit: LIMIT });
    assert.ok(isCut && texts[0] === 'short' && texts[1]?.startsWith('line 1\n'));
  });
});

test('a title stands above its text and is no part of what is counted', () => {
  const lines = Array.from({ length: 500 }, (_, at) => `line ${at + 1}`).join('\n');
  const { text, shown } = cutOnce({ title: 'the title', text: lines }, 1000);
  assert.match(text, /^the title\nline 1\n.*\nline (\d+)\n\[cut: lines 1 to \1 of 500 shown/s);
  assert.equal(lines.slice(shown?.bytes).split('\n')[0], `line ${(shown?.items ?? 0) + 1}`);
  assert.equal(cutOnce({ title: 'alone', text: '' }, 1000).text, 'alone');
});

test('a list is cut after a whole item', () => {
  const items = Array.from({ length: 100 }, (_, at) => `item ${at}\n  with two lines`);
  const { text, shown } = cutOnce({ text: items }, 1000);
  assert.ok(shown !== undefined && shown.items > 0);
  assert.ok(text.startsWith(items.slice(0, shown.items).join('\n')));
  assert.match(text, new RegExp(`\\[cut: ${shown.items} of 100 entries shown`));
});

test('no mix of texts is ever longer than its room, and each shown beginning is one', () => {
  const text = fc.oneof(
    fc.string({ unit: 'binary', maxLength: 3000 }),
    fc.array(fc.string({ unit: 'grapheme', maxLength: 80 }), { maxLength: 80 }).map((lines) => lines.join('\n')),
  );
  const content = fc.oneof(text, fc.array(text, { maxLength: 6 }));
  const keep = fc.constantFrom('start' as const, 'ends' as const);
  fc.assert(
    fc.property(
      fc.array(
        fc.record({ text: content, keep, title: fc.string({ maxLength: 60 }) }, { requiredKeys: ['text', 'keep'] }),
        {
          maxLength: 60,
        },
      ),
      fc.integer({ min: 100, max: 6000 }),
      (given, bytes) => {
        const seen: [string, ShownPart][] = [];
        const parts = given.map(
          (part): TextPart => ({
            type: 'text',
            ...part,
            rest(shown) {
              seen.push([typeof part.text === 'string' ? part.text : part.text.join('\n'), shown]);
              return 'x'.repeat(shown.bytes % 2000);
            },
          }),
        );
        const { texts, isCut } = fitParts(parts, { bytes, limit: LIMIT });
        assert.ok(Buffer.byteLength(texts.join('\n')) <= bytes, `${Buffer.byteLength(texts.join('\n'))} > ${bytes}`);
        const whole = given.reduce(
          (sum, { title = '', text }) => sum + Buffer.byteLength([title, text].flat().join('\n')) + 1,
          0,
        );
        if (isCut) assert.ok(whole + given.length + 1 > bytes - given.length);
        for (const [all, shown] of seen) {
          assert.ok(shown.bytes <= Buffer.byteLength(all) + 1);
          if (shown.items > 0) assert.ok(shown.items <= all.split('\n').length);
        }
      },
    ),
    { numRuns: 300 },
  );
});
