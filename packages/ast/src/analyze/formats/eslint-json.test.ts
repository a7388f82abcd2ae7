import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { parseAnalysis } from '../parse-analysis.ts';
import { relativeTo } from '../workspace-path.ts';

const context = { toRelative: relativeTo('/srv/project') };
const SOURCE = '\uFEFFvar a = "😀"\nfoo == bar\n';

const semi = {
  ruleId: 'semi',
  severity: 2,
  message: 'Missing semicolon.',
  line: 1,
  column: 13,
  endLine: 2,
  endColumn: 1,
  fix: { range: [12, 12], text: ';' },
};

function file(more: object = {}): object {
  return { filePath: '/srv/project/src/a.js', messages: [semi], suppressedMessages: [], source: SOURCE, ...more };
}

const parse = (root: unknown, more: object = {}) =>
  parseAnalysis('eslint-json', JSON.stringify(root), { ...context, ...more });

describe('ESLint JSON', () => {
  test('becomes findings, and a byte order mark moves the first line by one [S0-56]', async () => {
    assert.deepEqual(await parse([file()]), {
      findings: [
        {
          provider: 'eslint',
          rule: 'semi',
          level: 'error',
          message: 'Missing semicolon.',
          file: 'src/a.js',
          line: 1,
          col: 14,
          endLine: 2,
          endCol: 1,
          fix: { edits: [{ file: 'src/a.js', startLine: 1, startCol: 14, endLine: 1, endCol: 14, newText: ';' }] },
        },
      ],
      notes: [],
    });
  });

  test('a fix without the source along is placed in the file, or left out [S0-56]', async () => {
    const { source: _, ...bare } = file() as Record<string, unknown>;
    const lost = await parse([bare]);
    assert.deepEqual([lost.findings[0]?.fix, lost.notes[0]?.kind], [undefined, 'fix']);
    const found = await parse([bare], { readSource: () => Buffer.from(SOURCE) });
    assert.deepEqual(found.findings[0]?.fix?.edits[0]?.startCol, 14);
  });

  test('a fix may take the byte order mark away', async () => {
    const { findings } = await parse([file({ messages: [{ ...semi, fix: { range: [-1, 0], text: '' } }] })]);
    assert.deepEqual(findings[0]?.fix?.edits, [
      { file: 'src/a.js', startLine: 1, startCol: 1, endLine: 1, endCol: 2, newText: '' },
    ]);
  });

  test('metadata says where rules are described; what cannot be parsed is an error of its own [S0-56]', async () => {
    const messages = [
      semi,
      { ruleId: null, fatal: true, severity: 2, message: 'Parsing error', line: 2, column: 4 },
      { ruleId: null, severity: 1, message: 'File ignored' },
    ];
    const metadata = { rulesMeta: { semi: { docs: { url: 'https://example.org/semi' } } } };
    const { findings, notes } = await parse({
      results: [file({ messages, suppressedMessages: [semi] }), 3],
      metadata,
    });
    assert.deepEqual(
      findings.map(({ rule, level, line, col, docs }) => [rule, level, line, col, docs]),
      [
        ['eslint', 'warning', 1, 1, undefined],
        ['semi', 'error', 1, 14, 'https://example.org/semi'],
        ['syntax', 'error', 2, 4, undefined],
      ],
    );
    assert.deepEqual(
      notes.map(({ kind, count }) => [kind, count]),
      [
        ['suppressed', 1],
        ['unreadable', 1],
      ],
    );
  });
});
