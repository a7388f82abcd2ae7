import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import path from 'node:path';
import { describe, test } from 'node:test';
import { createAst } from '../../packages/ast/src/create-ast.ts';
import { CHILD_TOOL_NAMES } from '../../packages/host/src/mcp/profiles/child-tool-names.ts';
import { loadRegistry } from '../../packages/sdk/src/registry/load-registry.ts';
import * as rules from '../../packages/sdk/src/rules/catalog.ts';
import * as tools from '../../packages/sdk/src/tools/catalog.ts';
import { OTHER_TOOLS } from '../../packages/sdk/src/tools/other-tools.ts';
import { registryPage, undocumentedKeys } from './registry-page.ts';

const EXAMPLE = path.join(import.meta.dirname, '..', '..', 'examples', 'registry.yaml');

describe('registryPage', () => {
  test('shows every key with a meaning and an example', () => {
    assert.deepEqual(undocumentedKeys(), []);
    const page = registryPage();
    assert.match(page, /^## shell_allow$/m);
    assert.match(page, /^\| `\*\.arg_key` \| `string not empty` \| – \| Argument that is constrained/m);
    assert.match(page, /^```yaml\nshell_deny: \['\^npm publish'\]\n```$/m);
  });

  test('misses a key that the example leaves out or that has no meaning', () => {
    const schema = { type: 'object', properties: { network: { properties: { added: { type: 'string' } } } } };
    assert.deepEqual(undocumentedKeys(schema), [
      'registry key without a meaning: network',
      'registry key without a meaning: network.added',
      'registry key without an example: network.added',
    ]);
  });

  test('takes its examples from a registry that loads without a warning', () => {
    const ast = createAst();
    const known = [...Object.values(rules), ...ast.rules];
    const registry = loadRegistry(readFileSync(EXAMPLE, 'utf8'), {
      file: 'registry.yaml',
      rules: new Map(known.map((rule) => [rule.id, rule])),
      tools: new Set(Object.values(tools).map(({ name }) => name)),
      engines: new Set(['ast']),
    });
    assert.deepEqual(registry.warnings, []);
    assert.equal(registry.externalTools[0]?.name, 'scanner');
  });
});

test('tools of other packages that a registry may name are the tools these packages have', () => {
  assert.deepEqual([...OTHER_TOOLS].sort(), [...createAst().tools.map(({ name }) => name), ...CHILD_TOOL_NAMES].sort());
});
