import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { isToolError } from '@tool-runtime/protocol';
import fc from 'fast-check';
import { ANALYZER_FORMATS, type AnalyzerFormat, type ParseContext, parseAnalysis } from './parse-analysis.ts';
import { MAX_ANALYSIS_BYTES } from './read-json.ts';
import { relativeTo } from './workspace-path.ts';

const context: ParseContext = {
  toRelative: relativeTo('/srv/project'),
  readSource: (file) => (file.length % 2 === 0 ? Buffer.from('one\ntwö 😀 three\n') : undefined),
};

/** Words the formats know, so that random values reach deep into the adapters. */
const KEYS = [
  ...['results', 'runs', 'tool', 'driver', 'rules', 'id', 'ruleId', 'ruleIndex', 'locations', 'physicalLocation'],
  ...['artifactLocation', 'uri', 'uriBaseId', 'originalUriBaseIds', 'index', 'artifacts', 'region', 'startLine'],
  ...['startColumn', 'endLine', 'endColumn', 'byteOffset', 'byteLength', 'charOffset', 'charLength', 'fixes'],
  ...['artifactChanges', 'replacements', 'deletedRegion', 'insertedContent', 'text', 'message', 'arguments', 'kind'],
  ...['suppressions', 'diagnostics', 'generalDiagnostics', 'labels', 'span', 'offset', 'length', 'line', 'column'],
  ...['col', 'start', 'end', 'range', 'character', 'file', 'filename', 'filePath', 'path', 'location', 'messages'],
  ...['fix', 'extra', 'lines', 'check_id', 'severity', 'replacement', 'replacementOffsets', 'errors', 'source'],
];

const scalar = fc.oneof(
  fc.integer({ min: -3, max: 12 }),
  fc.double(),
  fc.boolean(),
  fc.constant(null),
  fc.constantFrom('a.ts', '../x', '/srv/project/b.ts', 'file:///%zz', 'error', 'é😀\n', '', '{0}', 'constructor'),
  fc.string(),
);
const { value } = fc.letrec<{ value: unknown }>((tie) => ({
  value: fc.oneof(
    { depthSize: 'medium', withCrossShrink: true },
    scalar,
    fc.array(tie('value'), { maxLength: 4 }),
    fc.dictionary(fc.constantFrom(...KEYS), tie('value'), { maxKeys: 8 }),
  ),
}));

/** A whole text of the format whose entries are random. */
const ENVELOPES: Readonly<Record<AnalyzerFormat, (entries: unknown) => unknown>> = {
  'ast-grep-json': (entries) => entries,
  'biome-json': (diagnostics) => ({ diagnostics }),
  'eslint-json': (messages) => [{ filePath: 'a.ts', messages, source: 'ab\nc' }],
  'oxlint-json': (diagnostics) => ({ diagnostics }),
  'pyright-json': (generalDiagnostics) => ({ generalDiagnostics }),
  sarif: (results) => ({ runs: [{ results, tool: { driver: { name: 'x', rules: results } }, artifacts: results }] }),
  'semgrep-json': (results) => ({ results, errors: results }),
};

async function holds(format: AnalyzerFormat, text: string): Promise<void> {
  try {
    const { findings, notes } = await parseAnalysis(format, text, context);
    for (const { line, col, endLine = line, endCol = col, file, message, rule } of findings) {
      assert.ok(line >= 1 && col >= 1 && (endLine > line || (endLine === line && endCol >= col)));
      assert.ok([line, col, endLine, endCol].every(Number.isInteger));
      assert.ok(!file.startsWith('/') && !file.startsWith('../') && message !== '' && rule !== '');
    }
    for (const note of notes) assert.ok(note.count > 0 && note.message !== '');
  } catch (thrown) {
    if (!isToolError(thrown)) throw thrown;
    assert.ok(thrown.code === 'E_VALIDATION_FAIL' && thrown.message !== '');
  }
}

for (const format of ANALYZER_FORMATS) {
  describe(`${format} of any content`, () => {
    test('is findings inside the workspace or a readable refusal, for random JSON [S0-56]', async () => {
      await fc.assert(fc.asyncProperty(value, (sample) => holds(format, JSON.stringify(sample))));
      const entries = fc.array(value, { maxLength: 5 });
      await fc.assert(
        fc.asyncProperty(entries, (sample) => holds(format, JSON.stringify(ENVELOPES[format](sample)))),
        { numRuns: 300 },
      );
    });

    test('is a readable refusal for text that is no JSON at all [S0-56]', async () => {
      await fc.assert(fc.asyncProperty(fc.string({ unit: 'binary' }), (text) => holds(format, text)));
      for (const text of ['{', '[1,', 'Error: no such rule', '{"results":1}', '"x"', '\uFEFF'])
        await holds(format, text);
    });

    test('may begin with a byte order mark [S0-56]', async () => {
      const text = JSON.stringify(ENVELOPES[format]([]));
      assert.deepEqual(await parseAnalysis(format, `\uFEFF${text}`, context), { findings: [], notes: [] });
    });

    test('is bounded in size and depth [S0-56]', async () => {
      const deep = (levels: number) => JSON.stringify(ENVELOPES[format]([])).replace('[]', `[${nested(levels)}]`);
      await assert.rejects(parseAnalysis(format, deep(200), context), { code: 'E_VALIDATION_FAIL' });
      await parseAnalysis(format, deep(50), context);
      const large = `{"results":"${'x'.repeat(MAX_ANALYSIS_BYTES)}"}`;
      await assert.rejects(parseAnalysis(format, large, context), ({ code, details }) => {
        return code === 'E_VALIDATION_FAIL' && details.reason === 'too_large';
      });
    });
  });
}

function nested(levels: number): string {
  return '['.repeat(levels) + ']'.repeat(levels);
}

test('an unknown format is a mistake of the program [S0-56]', async () => {
  await assert.rejects(parseAnalysis('toString' as AnalyzerFormat, '[]', context), TypeError);
});
