import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { isToolError } from '@tool-runtime/protocol';
import type { Registry } from '../../contracts/registry.ts';
import { loadRegistry } from '../load-registry.ts';
import { narrowRegistry } from '../narrow-registry.ts';

const KNOWN = { rules: new Map(), tools: undefined, engines: new Set<never>() };

function load(entry: string, file = 'r.yaml'): Registry {
  return loadRegistry(`version: 1\nexternal_tools: [${entry}]\n`, { ...KNOWN, file });
}

function problemsOf(entry: string): readonly string[] {
  try {
    load(entry);
    return [];
  } catch (thrown) {
    assert.ok(isToolError(thrown));
    return (thrown.details['problems'] as readonly { message: string }[]).map(({ message }) => message);
  }
}

describe('an external tool in a registry', () => {
  test('is closed unless it is written open [S4-44]', () => {
    assert.deepEqual(load('{name: scan.v2, command: bin/scan}').externalTools, [
      {
        name: 'scan.v2',
        summary: 'Run scan.v2',
        command: 'bin/scan',
        args: [],
        interpreter: [],
        files: [],
        profile: 'neutral',
        kind: 'execute',
        side_effect_level: 'process_exec',
        network: false,
        writable: false,
        secrets: [],
        timeout_ms: 300_000,
        read_paths: [],
        allow_unpinned: false,
      },
    ]);
  });

  const refused: readonly [string, string, RegExp][] = [
    [
      'writing below its level',
      '{name: a, command: x, writable: true, side_effect_level: read_only}',
      /from side_effect_level: workspace_write on/,
    ],
    ['network below its level [S4-49]', '{name: a, command: x, network: true}', /only with side_effect_level: network/],
    ['a secret of the protocol [S4-44]', '{name: a, command: x, secrets: [TOOL_RUN_ID]}', /reserved: TOOL_RUN_ID/],
    ['a secret of the protocol in other letters [S4-44]', '{name: a, command: x, secrets: [epack_x]}', /reserved/],
    ['a variable of the loader [S4-44]', '{name: a, command: x, secrets: [LD_PRELOAD]}', /reserved/],
    ['a variable of the other loader [S4-44]', '{name: a, command: x, secrets: [dyld_x]}', /reserved/],
    ['a name that begins with a line [S4-44]', '{name: a, command: x, secrets: [_x]}', /reserved/],
    ['the path [S4-44]', '{name: a, command: x, secrets: [PATH]}', /set by the runtime: PATH/],
    ['a name that leads up', '{name: a..b, command: x}', /Not the name of a tool/],
    ['a name in capitals', '{name: Scan, command: x}', /Not the name of a tool/],
    ['a name of 65 characters', `{name: ${'a'.repeat(65)}, command: x}`, /Not the name of a tool/],
    ['a file outside', '{name: a, command: x, files: [../y]}', /Not a path below/],
    ['a file outside in the middle', '{name: a, command: x, files: [y/../../z]}', /Not a path below/],
    ['an absolute file', '{name: a, command: x, files: [/y]}', /Not a path below/],
    ['an interpreter by a relative path', '{name: a, command: x, interpreter: [bin/sh]}', /neither a bare name/],
    ['more than the name without a command', '{name: a, timeout_ms: 5}', /has no command: a/],
    ['a key nobody knows', '{name: a, command: x, binary: y}', /Unknown key: binary/],
    ['a schema of a list', '{name: a, command: x, args_schema: {type: array}}', /write type: object/],
    [
      'a schema with a reference',
      '{name: a, command: x, args_schema: {type: object, $ref: "#"}}',
      /not checked here: \$ref/,
    ],
    [
      'a schema too large',
      `{name: a, command: x, args_schema: {type: object, description: ${'d'.repeat(17_000)}}}`,
      /larger than 16384/,
    ],
  ];
  for (const [name, entry, message] of refused) {
    test(`${name} is refused at load`, () => {
      const problems = problemsOf(entry);
      assert.equal(problems.length, 1, problems.join('\n'));
      assert.match(problems[0] ?? '', message);
    });
  }

  test('settings similar to the refused ones are accepted [S4-49 S4-44]', () => {
    const entry =
      '{name: a, command: x, network: true, writable: true, side_effect_level: network, secrets: [API_TOKEN, MY_TOOL_X], files: [lib, a/b.txt, ..c], interpreter: [/usr/bin/node], args_schema: {type: object}}';
    assert.deepEqual(problemsOf(entry), []);
  });
});

describe('an external tool in a narrower registry', () => {
  const host = () => load('{name: a, command: x, timeout_ms: 9}, {name: b, command: y}', 'host.yaml');

  test('may be named alone, and is the host’s then', () => {
    const narrowed = narrowRegistry(host(), load('{name: a}'), { overreach: 'error' });
    assert.deepEqual(narrowed.externalTools, [host().externalTools[0]]);
  });

  test('may be repeated word for word', () => {
    const narrowed = narrowRegistry(host(), load('{timeout_ms: 9, command: x, name: a}'), { overreach: 'error' });
    assert.deepEqual(
      narrowed.externalTools.map(({ name }) => name),
      ['a'],
    );
  });

  for (const entry of ['{name: a, command: z}', '{name: c}', '{name: c, command: x}', '{name: a, command: x}']) {
    test(`is refused when it is another: ${entry}`, () => {
      assert.throws(() => narrowRegistry(host(), load(entry), { overreach: 'error' }), /not one of the host's/);
    });
  }
});
