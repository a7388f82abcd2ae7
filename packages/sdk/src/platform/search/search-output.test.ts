import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { type FoundFile, type OutputReader, SearchOutput } from './search-output.ts';

const EVERYTHING: OutputReader = { wants: () => true, batchLines: Number.POSITIVE_INFINITY, maxLength: 1000 };

function read(chunks: readonly Buffer[], reader = EVERYTHING): FoundFile[] {
  const output = new SearchOutput(reader);
  const files = chunks.flatMap((chunk) => [...output.write(chunk)]);
  return [...files, ...output.end()];
}

function cutUp(bytes: Buffer, places: readonly number[]): Buffer[] {
  const cuts = [...new Set(places.map((place) => place % (bytes.length + 1)))].sort((a, b) => a - b);
  return [0, ...cuts].map((from, at) => bytes.subarray(from, cuts[at] ?? bytes.length));
}

const path = fc.stringMatching(/^[a-z:\n é-]{1,12}$/).filter((name) => !name.startsWith('./'));
const line = fc.record({
  number: fc.integer({ min: 1, max: 1_000_000 }),
  byteColumn: fc.integer({ min: 0, max: 3 }),
  text: fc.stringMatching(/^[a-z:0-9 é-]{3,30}$/),
});
const file = fc.record({ path, lines: fc.array(line, { minLength: 1, maxLength: 6 }) });
const files = fc.uniqueArray(file, { selector: (one) => one.path, maxLength: 6 });

function written(
  found: readonly { path: string; lines: readonly { number: number; byteColumn: number; text: string }[] }[],
) {
  const records = found.flatMap((one) =>
    one.lines.map(({ number, byteColumn, text }) =>
      byteColumn === 0 ? `./${one.path}\0${number}-${text}\n` : `./${one.path}\0${number}:${byteColumn}:${text}\n`,
    ),
  );
  return Buffer.from(records.join(''));
}

test('reads the same lines from output cut anywhere, whatever names and lines hold [S0-33]', () => {
  fc.assert(
    fc.property(files, fc.array(fc.nat(), { maxLength: 12 }), (found, places) => {
      const bytes = written(found);
      const expected = found.map((one) => ({
        path: one.path,
        lines: one.lines.map(({ number, byteColumn, text }) => ({ number, byteColumn, text })),
        matchCount: one.lines.filter(({ byteColumn }) => byteColumn > 0).length,
      }));
      const plain = (files: readonly FoundFile[]) =>
        files.map((one) => ({
          ...one,
          lines: one.lines.map(({ number, byteColumn, text }) => ({ number, byteColumn, text })),
        }));
      assert.deepEqual(plain(read([bytes])), expected);
      assert.deepEqual(read(cutUp(bytes, places)), read([bytes]));
    }),
    { numRuns: 500 },
  );
});

test('drops a file in which ripgrep met binary data, wherever the warning is cut [S0-33]', () => {
  const warning = 'WARNING: stopped searching binary file after match (found "\\0" byte around offset 7)';
  const bytes = Buffer.from(`./a\x001:1:x\n./b\x001:1:x\n./b: ${warning}\n./c\x001:1:x\n./c: ${warning}\n`);
  for (let at = 0; at <= bytes.length; at++) {
    assert.deepEqual(
      read([bytes.subarray(0, at), bytes.subarray(at)]).map((one) => one.path),
      ['a'],
    );
  }
});

test('skips unwanted files and names that are no UTF-8 [S0-33]', () => {
  const bytes = Buffer.concat([
    Buffer.from('./a\x001:1:x\n./b\x001:1:x\n./'),
    Buffer.from([0xff]),
    Buffer.from('\x001:1:x\n'),
  ]);
  assert.deepEqual(
    read([bytes], { ...EVERYTHING, wants: (name) => name !== 'a' }).map((one) => one.path),
    ['b'],
  );
});

test('returns very many lines of one file in batches [S0-33]', () => {
  const bytes = Buffer.from(Array.from({ length: 10 }, (_, at) => `./a\x00${at + 1}:1:x\n`).join(''));
  const batches = read([bytes], { ...EVERYTHING, batchLines: 4 });
  assert.deepEqual(
    batches.map((one) => [one.path, one.matchCount]),
    [
      ['a', 4],
      ['a', 4],
      ['a', 2],
    ],
  );
});

test('keeps a window of a line that never seems to end [S0-33]', () => {
  const output = new SearchOutput({ ...EVERYTHING, maxLength: 20 });
  output.write(Buffer.from('./a\x001:8388615:'));
  for (let round = 0; round < 64; round++) output.write(Buffer.alloc(131_072, 'x'));
  output.write(Buffer.from('prefixneedle'));
  output.write(Buffer.from('tail\n'));
  const [found] = output.end();
  assert.deepEqual(found?.lines, [
    { number: 1, byteColumn: 8_388_615, column: 8_388_615, text: 'refixneedletail', cut: true },
  ]);
});
