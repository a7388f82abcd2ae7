/** Code tools in a transaction: they see and change its staged state, and parsers judge the whole when it is committed. */
import assert from 'node:assert/strict';
import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { openCodeRuntime } from './code-runtime.ts';

const FILES = {
  'a.ts': 'export function first(): number {\n  return 1;\n}\n',
  'b.ts': "import { first } from './a.ts';\nexport const two = first() + first();\n",
};
const PARSED = 'validators: [{ rule: code.ast.parsed, enforcement: blocking }]';

for (const [ground, lines] of [
  ['an overlay', ''],
  ['a copy of the workspace', 'isolation: none\n'],
] as const)
  test(`queries and renames of a transaction on ${ground} see what it has staged, and leave the index of others alone`, async () => {
    await using code = await openCodeRuntime(FILES, { registry: `${lines}${PARSED}` });
    const rename = async () => {
      const { nodes } = await code.ask<{ nodes: { id: string; file: string }[] }>('ast_query', {
        where: { name_like: 'first' },
      });
      const target_node_id = nodes.find(({ file }) => file === 'a.ts')?.id;
      await code.ask('ast_edit', { operation: 'rename_symbol', target_node_id, new_name: 'renamed' });
    };
    const named = async (name: string) => JSON.stringify(await code.ask('ast_query', { where: { name_like: name } }));
    assert.match(await named('first'), /a\.ts/);
    await code.ask('tx_begin', {});
    await code.ask('file_write', {
      path: 'c.ts',
      content: "import { first } from './a.ts';\nexport const three = first();\n",
    });
    assert.match(await named('three'), /c\.ts/);
    await rename();
    const staged = JSON.stringify(await code.ask('file_read', { path: 'c.ts' }));
    assert.match(staged, /renamed\(\)/, 'a file that exists in the transaction only is renamed in too');
    assert.equal(readFileSync(join(code.workspace, 'b.ts'), 'utf8'), FILES['b.ts']);
    await code.ask('tx_abort', {});
    assert.match(await named('first'), /a\.ts/);
    assert.doesNotMatch(await named('three'), /c\.ts/);

    await code.ask('tx_begin', {});
    await rename();
    await code.ask('tx_commit', {});
    assert.match(readFileSync(join(code.workspace, 'b.ts'), 'utf8'), /renamed\(\) \+ renamed\(\)/);
    assert.match(await named('renamed'), /a\.ts/);
  });

test('a file may be broken on the way; a transaction that leaves it broken is not committed', async () => {
  await using code = await openCodeRuntime(FILES, { registry: PARSED });
  await code.ask('tx_begin', {});
  await code.ask('file_write', { path: 'a.ts', content: 'export function first(: number {\n' });
  await code.ask('file_write', { path: 'a.ts', content: 'export function first(: number {\n// more\n' });
  await code.ask('file_write', { path: 'new.ts', content: 'export const fine = 1;\n' });
  assert.equal((await code.refusal('tx_commit', {})).code, 'E_AST_PARSE');
  assert.equal(existsSync(join(code.workspace, 'new.ts')), false);
  await code.ask('file_write', { path: 'a.ts', content: 'export function first(): number {\n  return 2;\n}\n' });
  await code.ask('tx_commit', {});
  assert.equal(existsSync(join(code.workspace, 'new.ts')), true);
});
