import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { ToolError } from '@tool-runtime/protocol';
import type { RawFinding } from '../analyzer-adapter.ts';
import { placeAnalysis } from './place-analysis.ts';

const SOURCE = 'let a = "😀"; call();\nnext();\n';

function finding(place: RawFinding['place'], more: Partial<RawFinding> = {}): RawFinding {
  return { provider: 'p', rule: 'r', level: 'note', message: 'm', file: 'a.ts', place, ...more };
}

const inBytes = { unit: 'byte', start: { line: 1, col: 17 }, end: { line: 1, col: 23 } } as const;

describe('places of an analysis', () => {
  test('become UTF-16 columns by reading each file once, and only files that are needed [S0-56]', async () => {
    const read: string[] = [];
    const { findings, notes } = await placeAnalysis(
      {
        findings: [
          finding(inBytes),
          finding(inBytes, { rule: 'again' }),
          finding({ unit: 'utf16', start: { line: 1, col: 3 } }, { file: 'b.ts' }),
        ],
        notes: [],
      },
      {
        readSource(file) {
          read.push(file);
          return Buffer.from(SOURCE);
        },
      },
    );
    assert.deepEqual(read, ['a.ts']);
    assert.deepEqual(notes, []);
    assert.deepEqual(
      findings.map(({ file, rule, line, col, endCol }) => [file, rule, line, col, endCol]),
      [
        ['a.ts', 'again', 1, 15, 21],
        ['a.ts', 'r', 1, 15, 21],
        ['b.ts', 'r', 1, 3, undefined],
      ],
    );
  });

  test('without the source keep the column and say so, but lose the fix', async () => {
    const raw = { findings: [finding(inBytes, { edits: [{ file: 'a.ts', place: inBytes, newText: '' }] })], notes: [] };
    const gone = (): never => {
      throw new ToolError('E_FILE_IO', 'File not found: a.ts');
    };
    for (const options of [{}, { readSource: gone }, { readSource: () => Buffer.from([0x61, 0xff]) }]) {
      const { findings, notes } = await placeAnalysis(raw, options);
      assert.deepEqual([findings[0]?.col, findings[0]?.fix], [17, undefined]);
      assert.deepEqual(
        notes.map(({ kind, count }) => [kind, count]),
        [
          ['columns', 1],
          ['fix', 1],
        ],
      );
    }
    const whole = await placeAnalysis(raw, { readSource: () => Buffer.from(SOURCE) });
    assert.deepEqual(whole.findings[0]?.fix?.edits, [
      { file: 'a.ts', startLine: 1, startCol: 15, endLine: 1, endCol: 21, newText: '' },
    ]);
    assert.deepEqual(whole.notes, []);
  });

  test('given only as bytes, or not at all, are found in the source or placed at the top', async () => {
    const bytes = { start: 24, end: 28 };
    const { findings } = await placeAnalysis(
      { findings: [finding({ unit: 'byte', bytes }), finding({ unit: 'utf16' }, { rule: 'whole file' })], notes: [] },
      { readSource: () => Buffer.from(SOURCE) },
    );
    assert.deepEqual(
      findings.map(({ line, col, endLine, endCol, span }) => ({ line, col, endLine, endCol, span })),
      [
        { line: 1, col: 1, endLine: undefined, endCol: undefined, span: undefined },
        { line: 2, col: 1, endLine: 2, endCol: 5, span: bytes },
      ],
    );
  });

  test('end with the cancelled caller before the next file is read', async () => {
    const raw = { findings: [finding(inBytes)], notes: [] };
    const signal = AbortSignal.abort(new ToolError('E_INTERNAL', 'Cancelled'));
    await assert.rejects(placeAnalysis(raw, { signal }), { message: 'Cancelled' });
  });
});
