/** Calls of the code tools are typed by name; the lines that must not compile are checked by the compiler. */
import assert from 'node:assert/strict';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { createAst } from '@tool-runtime/ast';
import { openScratchRuntime } from '@tool-runtime/sdk/testing';

test('arguments and data of a code tool are typed by its name', async () => {
  const { session, workspace, dispose } = await openScratchRuntime({ ast: createAst() });
  try {
    writeFileSync(join(workspace, 'a.ts'), 'export function first(): void {}\n');
    const answer = await session.call('ast_query', { where: { name_like: 'first' } });
    assert.ok(answer.ok, JSON.stringify(answer.errors));
    const truncated: boolean = answer.data.truncated;
    assert.equal(truncated, false);
    // @ts-expect-error The answer has no such field.
    assert.equal(answer.data.shortened, undefined);
    // @ts-expect-error The tool has no such argument.
    assert.equal((await session.call('ast_query', { wher: { name: 'first' } })).ok, false);
    // @ts-expect-error A number is expected.
    assert.equal((await session.call('ast_generate', { max_files: 'many' })).ok, false);
    // @ts-expect-error `rules` is missing.
    assert.equal((await session.call('ast_validate', {})).ok, false);
    // @ts-expect-error `operation` is missing.
    assert.equal((await session.call('ast_edit', {})).ok, false);
    // @ts-expect-error `request` is missing.
    assert.equal((await session.call('ast_external', { provider: 'none' })).ok, false);
  } finally {
    await dispose();
  }
});
