import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { isJsonObject, type JsonValue } from '@tool-runtime/protocol';
import type { AstIndex } from '../contracts/ast.ts';
import { openScratchRuntime } from '../testing/scratch-runtime.ts';
import { registryJsonSchema, sections } from './document.ts';
import { loadRegistry } from './load-registry.ts';
import { NAMES } from './texts.ts';

const parser: AstIndex = { covers: () => false, refresh: () => {}, parseProblems: () => [] };

function registryWith(rule: string, level: string | undefined): { file: string; text: string } {
  const enforcement = level === undefined ? '' : `\n    enforcement: ${level}`;
  return { file: 'ops.yaml', text: `version: 1\nvalidators:\n  - rule: ${rule}${enforcement}\n` };
}

/** Warnings of a runtime that opens with this registry. */
async function warningsOf(rule: string, level: string | undefined, ast?: AstIndex): Promise<readonly string[]> {
  const registry = registryWith(rule, level);
  const scratch = await openScratchRuntime({ registry, ...(ast === undefined ? {} : { ast }) });
  const warnings = scratch.runtime.warnings.map(({ message, details }) => `${details?.['registry']} ${message}`);
  await scratch.dispose();
  return warnings;
}

describe('rules that need an engine [S0-68 S0-69 S0-70]', () => {
  for (const rule of ['code.fn.docs.exported', 'code.no.panic.in.lib', 'code.no.unwrap', 'code.mod.import.rules']) {
    test(`${rule} cannot be made blocking without it: the refusal names the line and what to do`, async () => {
      const message =
        `Registry refused: ops.yaml:3:5 Rule needs an engine this runtime does not have: ${rule} ` +
        '(ast; create the runtime with it, or write enforcement: warning)';
      await assert.rejects(warningsOf(rule, 'blocking'), { code: 'E_VALIDATION_FAIL', message });
      assert.deepEqual(await warningsOf(rule, 'blocking', parser), []);
    });

    test(`${rule} below blocking loads with a warning`, async () => {
      const expected = `ops.yaml:3 Rule needs an engine this runtime does not have: ${rule} (ast; the rule is not in force)`;
      assert.deepEqual(await warningsOf(rule, 'warning'), [expected]);
      assert.deepEqual(await warningsOf(rule, 'suggestion'), [expected]);
      assert.deepEqual(await warningsOf(rule, 'warning', parser), []);
    });
  }

  test('the level a rule has by itself counts where the registry gives none', async () => {
    await assert.rejects(warningsOf('code.fn.docs.exported', undefined), /needs an engine/);
    assert.equal((await warningsOf('code.no.unwrap', undefined)).length, 1);
  });

  test('code.ast.parsed may be blocking without it, because it refuses call by call [S0-63]', async () => {
    assert.deepEqual(await warningsOf('code.ast.parsed', 'blocking'), []);
  });

  test('a session cannot make one blocking either [S0-23]', async () => {
    const scratch = await openScratchRuntime();
    await assert.rejects(
      scratch.runtime.openSession({ registry: registryWith('code.no.unwrap', 'blocking') }),
      /needs an engine this runtime does not have: code\.no\.unwrap/,
    );
    await scratch.dispose();
  });
});

describe('commands of steps', () => {
  test('a fix beside a step is known, a fix of nothing is named', async () => {
    const text = (name: string) => ({ file: 'ops.yaml', text: `version: 1\ncommands: {${name}: npm run x}\n` });
    for (const [name, count] of [
      ['lint.fix', 0],
      ['fmt.fix', 0],
      ['lint.mend', 1],
    ] as const) {
      const scratch = await openScratchRuntime({ registry: text(name) });
      assert.equal(scratch.runtime.warnings.length, count, name);
      await scratch.dispose();
    }
  });
});

/** Every place of the schema whose text names a tool, as `Section.toolNames` writes it. */
function toolPlaces(schema: JsonValue | undefined, path: string): readonly string[] {
  if (!isJsonObject(schema)) return [];
  if (schema[NAMES] === 'tool') return [path];
  const below = (key: string) => (path === '' ? key : `${path}.${key}`);
  const { properties, propertyNames, additionalProperties, items, anyOf } = schema;
  return [
    ...Object.entries(isJsonObject(properties) ? properties : {}).flatMap(([key, inner]) =>
      toolPlaces(inner, below(key)),
    ),
    ...toolPlaces(propertyNames, below('~')),
    ...toolPlaces(additionalProperties, below('*')),
    ...toolPlaces(items, below('*')),
    ...(Array.isArray(anyOf) ? anyOf.flatMap((one) => toolPlaces(one, path)) : []),
  ];
}

/** A registry that names one tool at one place, in flow style. */
const NAMED: Readonly<Record<string, (name: string) => string>> = {
  'allowed_tools.*': (name) => `allowed_tools: ['${name}']`,
  'approvals.auto_approve.*': (name) => `approvals: {auto_approve: ['${name}']}`,
  'approvals.auto_deny.*': (name) => `approvals: {auto_deny: ['${name}']}`,
  'approvals.require_approval.*': (name) => `approvals: {require_approval: [file_read, '${name}']}`,
  'arg_constraints.*.tool': (name) => `arg_constraints: [{tool: '${name}', arg_patterns: ['**']}]`,
  'tool_profiles.*.*': (name) => `tool_profiles: {mine: ['${name}']}`,
  'tools.~': (name) => `tools: {'${name}': {}}`,
  'arg_constraints.*.allow.*.tool': (name) =>
    `arg_constraints: [{tool: shell_exec, arg_patterns: [a], allow: [{tool: ${name}}]}]`,
  'shell_allow.*.allow.*.tool': (name) => `shell_allow: [{pattern: ^a, allow: [{tool: ${name}}]}]`,
  'validators.*.allow.*.tool': (name) => `validators: [{rule: own.rule, allow: [{tool: ${name}}]}]`,
  'arg_constraints.*.deny.*.tool': (name) =>
    `arg_constraints: [{tool: shell_exec, arg_patterns: [a], deny: [{tool: ${name}}]}]`,
  'shell_allow.*.deny.*.tool': (name) => `shell_allow: [{pattern: ^a, deny: [{tool: ${name}}]}]`,
  'validators.*.deny.*.tool': (name) => `validators: [{rule: own.rule, deny: [{tool: ${name}}]}]`,
  'examples.allow.*.tool': (name) => `examples: {allow: [{tool: ${name}}]}`,
  'examples.ask.*.tool': (name) => `examples: {ask: [{tool: ${name}}]}`,
  'examples.deny.*.tool': (name) => `examples: {deny: [{tool: ${name}}]}`,
};

function load(text: string, more: { toolPatterns?: readonly string[] } = {}) {
  const tools = new Set(['file_read', 'file_write', 'shell_exec']);
  return loadRegistry(`version: 1\n${text}\n`, {
    file: 'r.yaml',
    rules: new Map([['own.rule', { id: 'own.rule', defaultEnforcement: 'warning' as const }]]),
    tools,
    engines: new Set(),
    ...more,
  });
}

describe('names of tools', () => {
  test('are checked wherever the schema says that a tool is named', () => {
    const places = toolPlaces(registryJsonSchema(), '').toSorted();
    assert.deepEqual(sections.flatMap(({ toolNames = [] }) => toolNames).toSorted(), places);
    assert.deepEqual(Object.keys(NAMED).toSorted(), places);
  });

  for (const [place, write] of Object.entries(NAMED)) {
    test(`at ${place} are refused with the nearest name, and taken where they exist`, () => {
      assert.throws(() => load(write('shel_exec')), {
        code: 'E_VALIDATION_FAIL',
        message: /r\.yaml:2:\d+ Unknown tool: shel_exec \(did you mean shell_exec\?\)/,
      });
      assert.deepEqual(load(write('shell_exec')).warnings, []);
    });
  }

  test('may be those of packages that the runtime was created without', async () => {
    const text = 'version: 1\nallowed_tools: [file_read, ast_query, child_open]\n';
    const scratch = await openScratchRuntime({ registry: { file: 'ops.yaml', text } });
    assert.deepEqual(scratch.runtime.warnings, []);
    await scratch.dispose();
  });

  test('in braces are checked one by one; a pattern without a match is a warning', () => {
    const write = (name: string) => `approvals: {auto_deny: ['${name}']}`;
    assert.throws(
      () => load(write('{file_read,file_wirte}')),
      /Unknown tool: file_wirte \(did you mean file_write\?\)/,
    );
    assert.deepEqual(load(write('{file_read,file_w*}')).warnings, []);
    assert.deepEqual(
      load(write('gti_*')).warnings.map(({ message }) => message),
      ['No tool matches: gti_*'],
    );
  });

  test('may be those of external tools and mounted servers of the file, and of sources that announce them', () => {
    const external = 'external_tools: [{name: scanner, command: x}]\nallowed_tools: [scanner]';
    const mounted =
      'mcp_servers: {docs: {url: "https://example.org/", tools: ["*"]}}\nallowed_tools: [docs_find, "docs_*"]';
    assert.deepEqual(load(external).warnings, []);
    assert.deepEqual(load(mounted).warnings, []);
    assert.deepEqual(load('allowed_tools: [own_thing]', { toolPatterns: ['own_*'] }).warnings, []);
    assert.throws(() => load('allowed_tools: [own_thing]'), /Unknown tool: own_thing/);
    assert.throws(() => load('allowed_tools: [docs_find]'), /Unknown tool: docs_find/);
  });
});

test('tools that are in auto_approve and in require_approval are named at load', async () => {
  const load = async (approvals: string): Promise<readonly string[]> => {
    const registry = { file: 'ops.yaml', text: `version: 1\napprovals:\n  ${approvals}\n` };
    const scratch = await openScratchRuntime({ registry });
    const warnings = scratch.runtime.warnings.map(({ message }) => message);
    await scratch.dispose();
    return warnings;
  };
  assert.deepEqual(await load("auto_approve: ['file_*']\n  require_approval: [file_write, shell_exec]"), [
    'Also in require_approval, which is stricter and holds: file_write',
  ]);
  assert.deepEqual(await load('auto_approve: [file_read]\n  require_approval: [file_write]'), []);
});
