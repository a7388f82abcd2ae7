import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { describe, test } from 'node:test';
import { openScratchRuntime } from '@tool-runtime/sdk/testing';
import { openCodeRuntime } from '../test/code-runtime.ts';
import { createAst } from './create-ast.ts';

const PARSED = 'validators: [{rule: code.ast.parsed, enforcement: blocking}]';
const BROKEN = 'function broken( {\n';

/** Runs a script in a process of its own and answers which of our modules, and of the engines', it loaded. */
function loadedBy(script: string): readonly string[] {
  const code = `
    import { registerHooks } from 'node:module';
    const seen = [];
    registerHooks({ load(url, context, next) { seen.push(url); return next(url, context); } });
    process.on('exit', () => process.stdout.write(JSON.stringify(seen)));
    const { createAst } = await import('@tool-runtime/ast');
    const { openScratchRuntime } = await import('@tool-runtime/sdk/testing');
    const scratch = await openScratchRuntime({ ast: createAst() });
    ${script}
    await scratch.dispose();`;
  const out = execFileSync(process.execPath, ['-C', 'tool-runtime-source', '--input-type=module', '--eval', code], {
    cwd: import.meta.dirname,
    encoding: 'utf8',
  });
  return (JSON.parse(out) as string[]).filter((url) =>
    /packages\/ast\/src\/(?:index|parse|grammar|symbols|scope|edit|lsp|analyze|worker)\/|web-tree-sitter|vscode-jsonrpc|ast-grep/.test(
      url,
    ),
  );
}

describe('createAst', () => {
  test('calls that are not about code load no parser, no index and no server (deep)', () => {
    const script = `
      await scratch.session.call('file_write', { path: 'a.ts', content: 'export const a = 1;' });
      await scratch.session.call('file_read', { path: 'a.ts' });
      scratch.session.tools();`;
    assert.deepEqual(loadedBy(script), []);
    const asked = loadedBy(`await scratch.session.call('ast_query', { where: {} });`);
    assert.ok(
      asked.some((url) => url.includes('/src/index/code-index.ts')),
      'the twin: a question loads it',
    );
    assert.ok(!asked.some((url) => url.includes('/src/lsp/') || url.includes('ast-grep')), 'and no servers for it');
  });

  test('serves one runtime at a time, and keeps the index in the state folder, not in the workspace', async () => {
    const ast = createAst();
    const first = await openScratchRuntime({ ast });
    await assert.rejects(openScratchRuntime({ ast }), { name: 'TypeError', message: /one runtime/ });
    await first.session.call('ast_generate', {});
    assert.ok(existsSync(join(first.state, 'ast', 'ast.db')));
    await first.dispose();
    await (await openScratchRuntime({ ast })).dispose();
  });

  test('what one process indexed the next one knows', async () => {
    await using code = await openCodeRuntime({ 'a.ts': 'export const a = 1;\n' });
    await code.ask('ast_generate', {});
    const again = await openScratchRuntime({ ast: createAst(), workspace: code.workspace, state: code.state });
    const { data } = await again.session.call('ast_generate', {});
    assert.deepEqual(
      [(data as { parsed_files: number }).parsed_files, (data as { unchanged: number }).unchanged],
      [0, 1],
    );
    await again.runtime.close();
  });
});

describe('code.ast.parsed with an engine [S0-63]', () => {
  test('4.20 refuses a write that breaks a file, puts the old bytes back, and lets a sound one pass [S0-63]', async () => {
    await using code = await openCodeRuntime({ 'a.ts': 'export const a = 1;\n' }, { registry: PARSED });
    const error = await code.refusal('file_write', { path: 'a.ts', content: BROKEN });
    assert.deepEqual([error.code, error.details?.['rolled_back'], error.path], ['E_AST_PARSE', true, 'a.ts']);
    assert.equal(code.read('a.ts'), 'export const a = 1;\n');
    assert.equal((await code.refusal('file_write', { path: 'new.ts', content: BROKEN })).code, 'E_AST_PARSE');
    assert.equal(existsSync(join(code.workspace, 'new.ts')), false);
    await code.ask('file_write', { path: 'a.ts', content: 'export const b = 2;\n' });
    await code.ask('file_write', { path: 'notes.txt', content: BROKEN });
    const { nodes } = await code.ask<{ nodes: { name: string }[] }>('ast_query', { where: { type: 'const' } });
    assert.deepEqual(
      nodes.map(({ name }) => name),
      ['b'],
      'the index knows what is on disk',
    );
  });

  test('errors that were there before do not stop an edit, one more does [S0-63]', async () => {
    await using code = await openCodeRuntime({ 'a.ts': 'const x = ;\nexport const a = 1;\n' }, { registry: PARSED });
    await code.ask('ast_generate', {});
    const same = 'const x = ;\nexport const a = 2;\n';
    await code.ask('file_write', { path: 'a.ts', content: same });
    const worse = await code.refusal('file_write', { path: 'a.ts', content: `${same}const y = ;\n` });
    assert.deepEqual([worse.code, worse.details?.['problems_before'] !== undefined], ['E_AST_PARSE', true]);
    await code.ask('file_write', { path: 'a.ts', content: 'export const a = 2;\n' });
    assert.equal((await code.refusal('file_write', { path: 'a.ts', content: same })).code, 'E_AST_PARSE');
  });

  test('a broken file that was never read before is known at the second attempt [S0-63]', async () => {
    await using code = await openCodeRuntime({ 'a.ts': `${BROKEN}\nexport const a = 1;\n` }, { registry: PARSED });
    const change = { path: 'a.ts', content: `${BROKEN}\nexport const a = 2;\n` };
    assert.match(String((await code.refusal('file_write', change)).details?.['next']), /make the same change again/);
    await code.ask('file_write', change);
  });

  test('renaming a broken file is no write; languages whose parser may be wrong never stop one [S0-63]', async () => {
    await using code = await openCodeRuntime({ 'a.ts': BROKEN }, { registry: PARSED });
    await code.ask('fs_move', { src: 'a.ts', dst: 'b.ts' });
    await code.ask('file_write', { path: 'a.c', content: 'int f( {\n' });
    await code.ask('file_write', { path: 'a.kt', content: 'fun f( {\n' });
  });

  test('validate reports every broken file, whatever it was before [S0-63]', async () => {
    await using code = await openCodeRuntime(
      { 'a.ts': BROKEN, 'b.ts': 'let b = 1;\n' },
      { registry: PARSED, git: true },
    );
    await code.ask('ast_generate', {});
    await code.ask('file_write', { path: 'a.ts', content: `${BROKEN}\n` });
    const { violations } = await code.ask<{ violations: { path: string }[] }>('validate', {});
    assert.deepEqual([...new Set(violations.map(({ path }) => path))], ['a.ts']);
  });
});
