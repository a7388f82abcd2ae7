/** Edits of code and the code index against files that govern the runtime and happen to be code. */
import assert from 'node:assert/strict';
import { linkSync, mkdirSync, mkdtempSync, readFileSync, realpathSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { test } from 'node:test';
import { openScratchRuntime } from '@tool-runtime/sdk/testing';
import { createAst } from '../src/create-ast.ts';

const CODE = 'export const first = 1;\nexport function second() {\n  return first;\n}\n';

test('no edit changes a governing file, no question tells of a secret one, and both work beside them', async (t) => {
  const workspace = realpathSync(mkdtempSync(join(tmpdir(), 'governing-code-')));
  t.after(() => rmSync(workspace, { recursive: true, force: true }));
  mkdirSync(join(workspace, 'ops'));
  for (const name of ['ops/own.ts', 'ops/twin.ts']) writeFileSync(join(workspace, name), CODE);
  writeFileSync(join(workspace, 'ops/secret.ts'), 'export const CANARY = first;\n');
  linkSync(join(workspace, 'ops/own.ts'), join(workspace, 'alias.ts'));
  const scratch = await openScratchRuntime({
    workspace,
    ast: createAst(),
    registry: { file: 'r.yaml', text: 'version: 1\nside_effect_level: process_exec\n' },
    governing: [
      { path: join(workspace, 'ops/own.ts'), access: 'read' },
      { path: join(workspace, 'ops/secret.ts'), access: 'none' },
    ],
  });
  t.after(() => scratch.dispose());
  const edit = async (args: object) => JSON.stringify(await scratch.session.call('ast_edit' as string, args));
  const rewrite = { operation: 'rewrite', language: 'typescript', pattern: 'first', replacement: 'changed' };
  for (const file of ['ops/own.ts', 'alias.ts', 'ops/secret.ts']) {
    const added = { operation: 'add_import', file, source: './x.ts', name: 'x' };
    for (const args of [{ ...rewrite, paths: [file] }, added]) {
      const answer = await edit(args);
      assert.match(answer, /"ok":false/, `${file}: ${answer.slice(0, 500)}`);
      assert.equal(answer.includes('CANARY'), false);
    }
  }
  const found = await scratch.session.call('ast_query', { where: { file_glob: 'ops/*.ts' } });
  assert.ok(found.ok, JSON.stringify(found.errors));
  const { nodes } = found.data as { nodes: readonly { file: string }[] };
  assert.ok(nodes.some(({ file }) => file === 'ops/twin.ts'));
  assert.equal(JSON.stringify(found).includes('CANARY'), false);
  assert.equal(readFileSync(join(workspace, 'ops/own.ts'), 'utf8'), CODE);
  assert.equal(readFileSync(join(workspace, 'ops/secret.ts'), 'utf8'), 'export const CANARY = first;\n');
  const twin = await edit({ ...rewrite, paths: ['ops/twin.ts'] });
  assert.match(readFileSync(join(workspace, 'ops/twin.ts'), 'utf8'), /changed/, twin.slice(0, 600));
});
