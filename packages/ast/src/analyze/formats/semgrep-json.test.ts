/** Samples are written by us after the public description of the format; Semgrep itself does not run here. */
import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { parseAnalysis } from '../parse-analysis.ts';
import { relativeTo } from '../workspace-path.ts';

const context = { toRelative: relativeTo('/srv/project') };

function result(more: object = {}, extra: object = {}): object {
  return {
    check_id: 'rules.no-eval',
    path: 'src/a.js',
    start: { line: 3, col: 12, offset: 40 },
    end: { line: 3, col: 19, offset: 47 },
    extra: {
      message: 'eval is dangerous',
      severity: 'ERROR',
      metadata: { references: ['https://example.org/eval'] },
      fingerprint: 'f',
      lines: 'let é = 1; eval(x);',
      ...extra,
    },
    ...more,
  };
}

const parse = (results: readonly object[], errors: readonly object[] = []) =>
  parseAnalysis(
    'semgrep-json',
    JSON.stringify({ version: '1.100.0', results, errors, paths: { scanned: [] } }),
    context,
  );

describe('Semgrep JSON', () => {
  test('becomes findings with UTF-16 columns, taken from the line that comes along [S0-56]', async () => {
    const fix = { startLine: 3, startCol: 11, endLine: 3, endCol: 18 };
    assert.deepEqual(await parse([result({}, { fix: 'safe(x)' })]), {
      findings: [
        {
          provider: 'semgrep',
          rule: 'rules.no-eval',
          level: 'error',
          message: 'eval is dangerous',
          file: 'src/a.js',
          line: 3,
          col: 11,
          endLine: 3,
          endCol: 18,
          span: { start: 40, end: 47 },
          fix: { edits: [{ file: 'src/a.js', ...fix, newText: 'safe(x)' }] },
          docs: 'https://example.org/eval',
        },
      ],
      notes: [],
    });
  });

  test('levels of old and new versions are told apart [S0-56]', async () => {
    const severities = ['CRITICAL', 'HIGH', 'ERROR', 'MEDIUM', 'WARNING', 'LOW', 'INFO', 'EXPERIMENT', 'INVENTORY'];
    const { findings } = await parse(severities.map((severity) => result({ check_id: severity }, { severity })));
    const levels = Object.fromEntries(findings.map(({ rule, level }) => [rule, level]));
    assert.deepEqual(
      severities.map((severity) => levels[severity]),
      ['error', 'error', 'error', 'warning', 'warning', 'note', 'note', 'note', 'note'],
    );
  });

  test('lines withheld until login and invalid offsets are ignored', async () => {
    const start = { line: 3, col: 12, offset: -1 };
    const { findings, notes } = await parse([result({ start }, { lines: 'requires login' })]);
    assert.deepEqual([findings[0]?.col, findings[0]?.span], [12, undefined]);
    assert.deepEqual(
      notes.map(({ kind }) => kind),
      ['columns'],
    );
  });

  test('what is ignored, outside or of no known shape is counted, and errors of the run are told [S0-56]', async () => {
    const { findings, notes } = await parse(
      [
        result(),
        result({}, { is_ignored: true }),
        result({ path: '/etc/passwd' }),
        result({ path: '../x.js' }),
        result({ start: null }),
        {},
      ],
      [
        { code: 3, level: 'warn', type: ['PartialParsing', []], message: 'Syntax error', path: 'b.js' },
        { code: 2, level: 'error', type: 'SemgrepError', long_msg: 'bad rule' },
      ],
    );
    assert.equal(findings.length, 1);
    assert.deepEqual(
      notes.map(({ kind, count, message }) => (kind === 'tool' ? message : `${kind} ${count}`)),
      [
        'semgrep warn, PartialParsing in b.js: Syntax error',
        'semgrep error, SemgrepError: bad rule',
        'suppressed 1',
        'outside 2',
        'unreadable 2',
      ],
    );
  });

  test('is refused as a whole without results', async () => {
    const refused = { code: 'E_VALIDATION_FAIL', message: 'Output is not semgrep-json: it has no list of results' };
    await assert.rejects(parseAnalysis('semgrep-json', '{"errors":[]}', context), refused);
    assert.deepEqual(await parseAnalysis('semgrep-json', '{"results":[]}', context), { findings: [], notes: [] });
  });
});
