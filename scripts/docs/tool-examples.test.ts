import assert from 'node:assert/strict';
import { test } from 'node:test';
import { createAst } from '../../packages/ast/src/create-ast.ts';
import { OPERATION_NAMES } from '../../packages/ast/src/edit/edit-operations.ts';
import type { AnyTool } from '../../packages/sdk/src/contracts/tool.ts';
import * as catalog from '../../packages/sdk/src/tools/catalog.ts';
import { TOOL_EXAMPLES } from './tool-examples.ts';

const tools: readonly AnyTool[] = [...Object.values<AnyTool>(catalog), ...createAst().tools];

test('every tool has an example, and every example a tool', () => {
  assert.deepEqual(Object.keys(TOOL_EXAMPLES).sort(), tools.map(({ name }) => name).sort());
});

test('every operation of ast_edit and every view of ast_query has an example', () => {
  const used = (tool: string, key: string) => new Set(TOOL_EXAMPLES[tool]?.map(({ args }) => args[key] ?? 'nodes'));
  assert.deepEqual(
    OPERATION_NAMES.filter((name) => !used('ast_edit', 'operation').has(name)),
    [],
  );
  const views = ['nodes', 'outline', 'references', 'source', 'matches', 'imports'];
  assert.deepEqual([...used('ast_query', 'view')].sort(), views.sort());
});

for (const tool of tools) {
  test(`the examples of ${tool.name} satisfy its schema`, () => {
    for (const { args, says } of TOOL_EXAMPLES[tool.name] ?? []) {
      assert.doesNotThrow(() => tool.args.parse(args), says);
    }
  });
}
