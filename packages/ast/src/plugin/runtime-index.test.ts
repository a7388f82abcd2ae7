import assert from 'node:assert/strict';
import { test } from 'node:test';
import { openCodeRuntime } from '../../test/code-runtime.ts';

/** The first check starts a sandbox and Python, which takes long on a busy machine. */
const BLOCKING = `validators: [{ rule: code.ast.parsed, enforcement: blocking }]
tools: { file_write: { timeout_ms: 300000 } }`;
/** Python takes it; its grammar does not. */
const SOUND = 'class A:\n    def f():\n        (bar.\n    baz)\n    def g(): return 1\n';

test('sound Python that the grammar does not know may be written; broken Python may not [S0-63]', async () => {
  await using code = await openCodeRuntime({}, { registry: `${BLOCKING}\nside_effect_level: process_exec` });
  await code.ask('file_write', { path: 'sound.py', content: SOUND });
  const refused = await code.refusal('file_write', { path: 'broken.py', content: `${SOUND}def f(:\n` });
  assert.equal(refused.code, 'E_AST_PARSE');
});

test('where the ceiling allows no programs the grammar decides alone', async () => {
  const registry = `${BLOCKING}\nside_effect_level: workspace_write`;
  await using code = await openCodeRuntime({}, { registry });
  assert.equal((await code.refusal('file_write', { path: 'sound.py', content: SOUND })).code, 'E_AST_PARSE');
  await code.ask('file_write', { path: 'plain.py', content: 'def f(): return 1\n' });
});

test('sound TypeScript that the grammar does not know may be written; broken TypeScript may not [S0-63]', async () => {
  await using code = await openCodeRuntime({}, { registry: BLOCKING });
  const sound = 'export type * from "./t";\nexport interface Box<in out T> { value: T }\n';
  await code.ask('file_write', { path: 'a.ts', content: sound });
  const refused = await code.refusal('file_write', { path: 'b.ts', content: `${sound}const a = ;\n` });
  assert.equal(refused.code, 'E_AST_PARSE');
  assert.match(refused.message, /:3:11/);
});
