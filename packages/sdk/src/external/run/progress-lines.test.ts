import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import fc from 'fast-check';
import { ProgressLines, parseProgress, type ToolProgress } from './progress-lines.ts';

const announced = (message: string) =>
  `${JSON.stringify({ type: 'tool_progress', protocol_version: 1, kind: 'status', message })}\n`;

function feed(pieces: readonly Uint8Array[], maxBytes = 1 << 20) {
  const heard: ToolProgress[] = [];
  const lines = new ProgressLines(maxBytes, (progress) => heard.push(progress));
  for (const piece of pieces) lines.add(piece);
  return { ...lines.finish(), heard: heard.map(({ message }) => message) };
}

describe('progress lines', () => {
  test('are told apart from output wherever the stream is cut [S4-48]', () => {
    const line = fc.oneof(
      fc.constantFrom('plain', '', '{', '{}', '{"type":"tool_progress"}', ' {"a":1}', 'x{"_progress"'),
      fc.string(),
      fc.nat(99).map((at) => announced(`m${at}`).trim()),
    );
    const cases = fc.tuple(fc.array(line.map((text) => text.replaceAll('\n', ' '))), fc.array(fc.nat(40)));
    fc.assert(
      fc.property(cases, ([lines, cuts]) => {
        const bytes = Buffer.from(lines.map((text) => `${text}\n`).join(''));
        const pieces: Uint8Array[] = [];
        let at = 0;
        for (const cut of cuts) {
          pieces.push(bytes.subarray(at, at + cut));
          at += cut;
        }
        const { heard, text } = feed([...pieces, bytes.subarray(at)]);
        const isProgress = (written: string) => parseProgress(written) !== undefined;
        assert.deepEqual(
          heard,
          lines.filter(isProgress).map((written) => JSON.parse(written).message),
        );
        const plain = lines.filter((written) => !isProgress(written));
        assert.equal(text, plain.map((written) => `${written}\n`).join(''));
      }),
    );
  });

  test('at the end of output without a newline count too [S4-48]', () => {
    assert.deepEqual(feed([Buffer.from(announced('last').trim())]).heard, ['last']);
  });

  test('are at most so many and so long; the rest is output [S4-48]', () => {
    const flood = feed([Buffer.from(announced('x').repeat(10_050))], 10 << 20);
    assert.equal(flood.heard.length, 10_000);
    assert.equal(flood.text.split('\n').length - 1, 50);
    const long = feed([Buffer.from(announced('x'.repeat(20_000)))]);
    assert.deepEqual([long.heard.length, long.totalBytes > 20_000], [0, true]);
    assert.equal(feed([Buffer.from(announced('y'.repeat(5000)))]).heard[0]?.length, 1024);
  });

  const rows: readonly [object, number | undefined | 'none'][] = [
    [{ type: 'epack_progress', protocol_version: 1, kind: 'progress', current: 1, total: 4, message: 'm' }, 25],
    [{ type: 'tool_progress', protocol_version: 1, kind: 'progress', current: 9, total: 4 }, 100],
    [{ type: 'tool_progress', protocol_version: 1, kind: 'progress', current: -1, total: 4 }, 0],
    [{ type: 'tool_progress', protocol_version: 1, kind: 'progress', current: 1, total: 0 }, undefined],
    [{ type: 'tool_progress', protocol_version: 1, kind: 'status', message: 'm' }, undefined],
    [{ type: 'tool_progress', protocol_version: 2, kind: 'status' }, 'none'],
    [{ type: 'tool_progress', kind: 'status' }, 'none'],
    [{ type: 'other_progress', protocol_version: 1, kind: 'status' }, 'none'],
    [{ type: 'tool_progress', protocol_version: 1, kind: 'other' }, 'none'],
    [{ type: 'tool_progress', protocol_version: 1, kind: 'progress', current: '1', total: 4 }, 'none'],
  ];
  for (const [value, expected] of rows) {
    test(`read ${JSON.stringify(value)} [S4-48]`, () => {
      const progress = parseProgress(JSON.stringify(value));
      assert.equal(progress === undefined ? 'none' : progress.pct, expected);
    });
  }
});
