import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { parseAnalysis } from '../parse-analysis.ts';
import { relativeTo } from '../workspace-path.ts';

const context = { toRelative: relativeTo('/srv/project'), readSource: () => Buffer.from('"😀"; debugger;\n') };

const parse = (...diagnostics: readonly object[]) =>
  parseAnalysis('biome-json', JSON.stringify({ summary: {}, diagnostics, command: 'lint' }), context);

describe('Biome JSON', () => {
  test('becomes findings whose columns come from code points [S0-56]', async () => {
    const { findings } = await parse({
      severity: 'error',
      message: 'no debugger',
      category: 'lint/suspicious/noDebugger',
      location: { path: 'src/a.ts', start: { line: 1, column: 6 }, end: { line: 1, column: 15 } },
      advices: [],
    });
    assert.deepEqual(findings, [
      {
        provider: 'biome',
        rule: 'lint/suspicious/noDebugger',
        level: 'error',
        message: 'no debugger',
        file: 'src/a.ts',
        line: 1,
        col: 7,
        endLine: 1,
        endCol: 16,
      },
    ]);
  });

  test('the shape of older versions is read too, and line 0 counts as no line', async () => {
    const { findings } = await parse(
      {
        severity: 'warning',
        message: [{ elements: [], content: 'no ' }, { content: 'debugger' }],
        category: 'lint/x',
        location: { path: { file: 'a.ts' }, span: [8, 17] },
      },
      {
        severity: 'information',
        message: 'io',
        category: 'internalError/io',
        location: { path: '/srv/project/b.ts', start: { line: 0, column: 0 }, end: { line: 0, column: 0 } },
      },
    );
    assert.deepEqual(
      findings.map(({ file, level, message, line, col, endCol }) => [file, level, message, line, col, endCol]),
      [
        ['a.ts', 'warning', 'no debugger', 1, 7, 16],
        ['b.ts', 'note', 'io', 1, 1, undefined],
      ],
    );
  });
});
