import assert from 'node:assert/strict';
import { test } from 'node:test';
import * as z from 'zod';
import { createAst } from '../../packages/ast/src/create-ast.ts';
import { OPERATION_NAMES } from '../../packages/ast/src/edit/edit-operations.ts';
import type { AnyTool } from '../../packages/sdk/src/contracts/tool.ts';
import * as catalog from '../../packages/sdk/src/tools/catalog.ts';
import { TOOL_EXAMPLES } from './tool-examples.ts';

const tools: readonly AnyTool[] = [...Object.values<AnyTool>(catalog), ...createAst().tools];

test('every tool has an example, and every example a tool', () => {
  assert.deepEqual(Object.keys(TOOL_EXAMPLES).sort(), tools.map(({ name }) => name).sort());
});

test('every operation of ast_edit has an example', () => {
  const used = new Set(TOOL_EXAMPLES['ast_edit']?.map(({ args }) => args['operation']));
  assert.deepEqual(
    OPERATION_NAMES.filter((name) => !used.has(name)),
    [],
  );
});

/** Arguments that choose what a tool does; its others say how. */
const CHOICES = ['action', 'view', 'scope', 'effects', 'report'];

interface Choice {
  readonly enum?: readonly string[];
  readonly default?: string;
}

test('every value of an argument that chooses what a tool does has an example', () => {
  const choices = tools.flatMap((tool) => {
    const { properties = {} } = z.toJSONSchema(tool.args, { io: 'input', unrepresentable: 'any' });
    return CHOICES.flatMap((key) => {
      const choice = properties[key] as Choice | undefined;
      return choice?.enum === undefined ? [] : [{ tool: tool.name, key, choice }];
    });
  });
  assert.ok(choices.length >= 4, `${choices.length} choices`);
  const missing = choices.flatMap(({ tool, key, choice }) => {
    const used = new Set(TOOL_EXAMPLES[tool]?.map(({ args }) => args[key] ?? choice.default));
    return choice.enum?.filter((value) => !used.has(value)).map((value) => `${tool} ${key}: ${value}`) ?? [];
  });
  assert.deepEqual(missing, []);
});

for (const tool of tools) {
  test(`the examples of ${tool.name} satisfy its schema`, () => {
    for (const { args, says } of TOOL_EXAMPLES[tool.name] ?? []) {
      assert.doesNotThrow(() => tool.args.parse(args), says);
    }
  });
}
