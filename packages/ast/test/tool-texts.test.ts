/** What a model reads of each tool of this package. */
import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import type { AnyTool, ToolText } from '@tool-runtime/sdk';
import * as catalog from '../src/tools/catalog.ts';

const PLACE = { file: 'src/a.ts', line: 3, col: 1 };
const NODE = {
  ...PLACE,
  id: 'n1',
  rev: 'r1',
  type: 'fn',
  name: 'add',
  container: 'Sum',
  end_line: 5,
  signature: 'add(a: number): number',
};

interface Sample {
  readonly args?: object;
  readonly data: object;
  readonly text: string;
}

const SAMPLES: Readonly<Record<string, readonly Sample[]>> = {
  ast_query: [
    {
      data: { nodes: [NODE, { ...NODE, id: 'n2', line: 9, end_line: 9, container: '' }], truncated: true },
      text: `2 declarations; more: ast_query {"where":{},"offset":2}
src/a.ts
  3-5 fn add(a: number): number in Sum [n1 rev r1]
  9-9 fn add(a: number): number [n2 rev r1]`,
    },
    {
      args: { view: 'outline' },
      data: { nodes: [{ ...NODE, depth: 1, source: 'add(a) {}' }], truncated: false },
      text: '1 declarations\nsrc/a.ts\n    3-5 fn add(a: number): number [n1 rev r1]\nadd(a) {}',
    },
    {
      args: { view: 'references' },
      data: {
        nodes: [],
        references: [{ ...PLACE, name: 'add', kind: 'call', node_id: 'n1', test: false }],
        confidence: 'resolver',
        truncated: false,
      },
      text: '1 references, by resolver\nsrc/a.ts\n  3:1 call add in [n1]',
    },
  ],
  ast_edit: [
    {
      args: { operation: 'rename' },
      data: {
        edited: false,
        files_touched: ['src/a.ts'],
        edits: 2,
        confidence: 'proven',
        residual: [{ ...PLACE, kind: 'comment' }],
        renamed_ids: { n1: 'n2' },
        warnings: ['tests were not looked at'],
        diff: '--- a/src/a.ts\n+++ b/src/a.ts\n',
      },
      text: `would edit 2 places in 1 files, confidence proven
warning: tests were not looked at
left unchanged:
  src/a.ts:3: comment
id n1 is now n2
src/a.ts
--- a/src/a.ts
+++ b/src/a.ts
`,
    },
  ],
  ast_generate: [
    {
      data: {
        parsed_files: 2,
        unchanged: 1,
        errors: [{ path: 'b.ts', line: 1, message: 'unexpected }' }],
        skipped: [{ path: 'c.ts', reason: 'too large' }],
        files: 3,
        truncated: false,
        languages: { typescript: 3 },
        nodes: 9,
        storage: 'disk',
      },
      text: `indexed 3 files: 2 parsed, 1 unchanged; 9 declarations (typescript 3)
error: b.ts:1: unexpected }
skipped: c.ts: too large`,
    },
  ],
  ast_validate: [
    {
      args: { rules: [] },
      data: {
        violations: [{ ...PLACE, rule: 'docs', node_id: 'n1', message: 'add has no docstring', level: 'warning' }],
        suppressed: [],
        unparsed: [],
        passed: true,
        checked: 4,
        truncated: false,
      },
      text: `passed: 1 violations, 0 suppressed; 4 declarations checked
warning: src/a.ts:3: add has no docstring (docs) [n1]`,
    },
  ],
  // Rows of `key: value`: what a server answers has no form of its own.
  ast_external: [],
};

const tools = Object.values(catalog).map((make): AnyTool => make(() => assert.fail('not used')));

describe('what a model reads', () => {
  test('every tool has a sample', () => {
    const names = tools.map(({ name }) => name);
    assert.deepEqual(names.toSorted(), Object.keys(SAMPLES).toSorted());
  });

  for (const [name, samples] of Object.entries(SAMPLES)) {
    for (const [at, { args = {}, data, text }] of samples.entries()) {
      test(`of ${name}, answer ${at + 1}`, () => {
        const tool = tools.find((one) => one.name === name);
        const shown = tool?.present?.(data, { where: {}, offset: 0, view: 'nodes', ...args }) as ToolText;
        const parts = (shown.parts ?? []).map((part) => (part.type === 'text' ? [part.text].flat().join('\n') : ''));
        assert.equal([shown.head, ...parts.filter((part) => part !== '')].join('\n'), text);
      });
    }
  }
});
