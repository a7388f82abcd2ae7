import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { parseAnalysis } from '../parse-analysis.ts';
import { relativeTo } from '../workspace-path.ts';

const context = { toRelative: relativeTo('/srv/project'), readSource: () => Buffer.from('"é"; debugger;\n') };

const diagnostic = {
  message: '`debugger` statement is not allowed',
  code: 'eslint(no-debugger)',
  severity: 'error',
  url: 'https://example.org/no-debugger',
  help: 'Remove it',
  filename: 'src/a.ts',
  labels: [{ span: { offset: 6, length: 9, line: 1, column: 7 } }],
};

const parse = (...diagnostics: readonly object[]) =>
  parseAnalysis('oxlint-json', JSON.stringify({ diagnostics, number_of_files: 1 }), context);

describe('oxlint JSON', () => {
  test('becomes findings whose columns and ends come from bytes [S0-56]', async () => {
    assert.deepEqual((await parse(diagnostic)).findings, [
      {
        provider: 'oxlint',
        rule: 'eslint(no-debugger)',
        level: 'error',
        message: '`debugger` statement is not allowed\nRemove it',
        file: 'src/a.ts',
        line: 1,
        col: 6,
        endLine: 1,
        endCol: 15,
        span: { start: 6, end: 15 },
        docs: 'https://example.org/no-debugger',
      },
    ]);
  });

  test('a diagnostic without code is about syntax; one without a file or label may still be told apart', async () => {
    const { code: _, help: __, ...syntax } = diagnostic;
    const { findings, notes } = await parse(
      { ...syntax, labels: [], severity: 'advice' },
      { ...diagnostic, filename: '' },
    );
    assert.deepEqual(
      findings.map(({ rule, level, line, col }) => [rule, level, line, col]),
      [['syntax', 'note', 1, 1]],
    );
    assert.deepEqual(
      notes.map(({ kind }) => kind),
      ['no_file'],
    );
  });

  test('is refused when it is a complaint in words', async () => {
    await assert.rejects(parseAnalysis('oxlint-json', 'Failed to parse configuration', context), {
      code: 'E_VALIDATION_FAIL',
    });
  });
});
