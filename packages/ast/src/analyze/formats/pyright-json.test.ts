import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { parseAnalysis } from '../parse-analysis.ts';
import { relativeTo } from '../workspace-path.ts';

const context = { toRelative: relativeTo('/srv/project') };

const diagnostic = {
  file: '/srv/project/m.py',
  severity: 'error',
  message: '"x" is not defined',
  range: { start: { line: 1, character: 6 }, end: { line: 1, character: 7 } },
  rule: 'reportUndefinedVariable',
};

describe('Pyright JSON', () => {
  test('becomes findings counted from one; what belongs to no rule or file is told apart [S0-56]', async () => {
    const { rule: _, range: __, ...bare } = diagnostic;
    const generalDiagnostics = [
      diagnostic,
      { ...bare, severity: 'information' },
      { ...diagnostic, file: '/usr/lib/python3/typeshed.pyi' },
      { severity: 'error' },
    ];
    const { findings, notes } = await parseAnalysis('pyright-json', JSON.stringify({ generalDiagnostics }), context);
    const common = { provider: 'pyright', message: '"x" is not defined', file: 'm.py' };
    assert.deepEqual(findings, [
      { ...common, rule: 'pyright', level: 'note', line: 1, col: 1 },
      { ...common, rule: 'reportUndefinedVariable', level: 'error', line: 2, col: 7, endLine: 2, endCol: 8 },
    ]);
    assert.deepEqual(
      notes.map(({ kind, count }) => [kind, count]),
      [
        ['outside', 1],
        ['unreadable', 1],
      ],
    );
  });

  test('is refused without its list', async () => {
    await assert.rejects(parseAnalysis('pyright-json', '{"summary":{}}', context), { code: 'E_VALIDATION_FAIL' });
  });
});
