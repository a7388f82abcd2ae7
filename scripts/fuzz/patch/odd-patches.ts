/** Files and diffs of them: hunks made from known edits, by the book, for mutations to bend. */
import fc from 'fast-check';
import { joinParts } from '../input-parts.ts';

const line = fc.oneof(
  {
    weight: 5,
    arbitrary: fc.constantFrom(
      '',
      '}',
      '{',
      '  return x;',
      '-- old',
      '++ new',
      '@@ -1 +1 @@',
      '\\ No',
      '\t',
      'a',
      'b',
      'a',
    ),
  },
  { weight: 1, arbitrary: fc.string({ maxLength: 8 }).map((text) => text.replaceAll(/[\n%]/g, '')) },
  { weight: 1, arbitrary: fc.constantFrom('\u00ff\u00fe', 'x\r', '\0', 'long '.repeat(300)) },
);

interface Edit {
  readonly skip: number;
  readonly remove: number;
  readonly insert: readonly string[];
}

const edit: fc.Arbitrary<Edit> = fc.record({
  skip: fc.nat({ max: 6 }),
  remove: fc.nat({ max: 3 }),
  insert: fc.array(line, { maxLength: 3 }),
});

interface Sample {
  readonly lines: readonly string[];
  readonly edits: readonly Edit[];
  readonly context: number;
  readonly ending: string;
  readonly isBare: boolean;
  /** How far the header is off, as after other changes to the file. */
  readonly drift: number;
}

export const fileAndDiff: fc.Arbitrary<Buffer> = fc
  .record({
    lines: fc.array(line, { maxLength: 30 }),
    edits: fc.array(edit, { minLength: 1, maxLength: 4 }),
    context: fc.nat({ max: 3 }),
    ending: fc.constantFrom('\n', '\n', '\n', '\r\n'),
    isBare: fc.boolean(),
    drift: fc.constantFrom(0, 0, 0, 1, -2, 7),
  })
  .map((sample) => joinParts(Buffer.from(fileOf(sample), 'latin1'), Buffer.from(diffOf(sample), 'latin1')));

function fileOf({ lines, ending, isBare }: Sample): string {
  return lines.map((text, at) => (isBare && at === lines.length - 1 ? text : `${text}${ending}`)).join('');
}

function diffOf(sample: Sample): string {
  const hunks: string[] = [];
  let [at, shift] = [0, 0];
  for (const each of sample.edits) {
    const start = at + each.skip;
    if (start > sample.lines.length || (each.insert.length === 0 && start >= sample.lines.length)) break;
    hunks.push(hunkOf(sample, { ...each, start, from: at, shift }));
    at = Math.min(sample.lines.length, start + each.remove) + sample.context;
    shift += each.insert.length - Math.min(each.remove, sample.lines.length - start);
  }
  return `--- a/f\n+++ b/f\n${hunks.join('')}`;
}

interface PlacedEdit extends Edit {
  readonly start: number;
  /** The first line that no hunk before has shown. */
  readonly from: number;
  readonly shift: number;
}

function hunkOf(sample: Sample, { start, from, remove, insert, shift }: PlacedEdit): string {
  const { lines, context, ending, isBare, drift } = sample;
  const end = Math.min(lines.length, start + remove);
  const [first, last] = [Math.max(from, start - context), Math.min(lines.length, end + context)];
  const old = (mark: string, at: number): string =>
    marked(mark, lines[at] ?? '', ending, isBare && at === lines.length - 1);
  const range = (begin: number, stop: number): readonly number[] =>
    Array.from({ length: stop - begin }, (_, at) => begin + at);
  // Behind a last line without newline nothing can be added that would not change that line as well.
  const isAtEnd = isBare && end === lines.length;
  const added = insert.map((text, at) => marked('+', text, ending, isAtEnd && at === insert.length - 1));
  const [oldCount, newCount] = [last - first, last - first - (end - start) + insert.length];
  const header = `@@ -${first + (oldCount === 0 ? 0 : 1) + drift},${oldCount} +${first + shift + (newCount === 0 ? 0 : 1) + drift},${newCount} @@\n`;
  const body = [
    ...range(first, start).map((at) => old(' ', at)),
    ...range(start, end).map((at) => old('-', at)),
    ...added,
  ];
  return header + [...body, ...range(end, last).map((at) => old(' ', at))].join('');
}

function marked(mark: string, text: string, ending: string, isBare: boolean): string {
  return isBare ? `${mark}${text}\n\\ No newline at end of file\n` : `${mark}${text}${ending}`;
}
