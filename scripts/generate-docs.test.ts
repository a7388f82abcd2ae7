import assert from 'node:assert/strict';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { test } from 'node:test';
import { ERROR_CODES } from '@tool-runtime/protocol';
import * as rules from '../packages/sdk/src/rules/catalog.ts';
import { ENGINE_RULES } from '../packages/sdk/src/rules/engine-rules.ts';
import * as tools from '../packages/sdk/src/tools/catalog.ts';
import { generateDocs, staleDocs, writeDocs } from './generate-docs.ts';

test('every tool, rule and error code has its place in the pages', async () => {
  const docs = await generateDocs();
  for (const tool of Object.values(tools))
    assert.match(docs.get('docs/tools.md') ?? '', new RegExp(`^## ${tool.name}$`, 'm'));
  for (const rule of [...Object.values(rules), ...ENGINE_RULES])
    assert.ok(docs.get('docs/rules.md')?.includes(`| \`${rule.id}\` |`), rule.id);
  for (const code of ERROR_CODES) assert.ok(docs.get('docs/errors.md')?.includes(`| \`${code}\` |`), code);
});

test('every published schema is a JSON Schema 2020-12 document', async () => {
  const schemas = [...(await generateDocs())].filter(([file]) => file.startsWith('docs/schemas/'));
  assert.ok(schemas.some(([file]) => file === 'docs/schemas/registry.json'));
  for (const [file, text] of schemas) {
    assert.equal(JSON.parse(text).$schema, 'https://json-schema.org/draft/2020-12/schema', file);
  }
});

test('a check finds missing, changed and orphaned files, and nothing after writing', async (t) => {
  const root = mkdtempSync(path.join(os.tmpdir(), 'docs-'));
  t.after(() => rmSync(root, { recursive: true, force: true }));
  const docs = await generateDocs();
  assert.deepEqual(staleDocs(root, docs), [...docs.keys()].sort());
  writeDocs(root, docs);
  assert.deepEqual(staleDocs(root, docs), []);
  writeFileSync(path.join(root, 'docs/errors.md'), 'edited by hand');
  writeFileSync(path.join(root, 'docs/schemas/gone.json'), '{}');
  assert.deepEqual(staleDocs(root, docs), ['docs/errors.md', 'docs/schemas/gone.json']);
  writeDocs(root, docs);
  assert.deepEqual(staleDocs(root, docs), []);
});
