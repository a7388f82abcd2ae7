import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { isToolError, type JsonValue } from '@tool-runtime/protocol';
import type { ToolArgConstraint } from '../contracts/registry.ts';
import { type ArgConstraintCheck, type ConstrainedTool, compileArgConstraints } from './arg-constraints.ts';
import { declaredPaths } from './declared-paths.ts';
import { callPathRule } from './path-rule.ts';

const argSchema = {
  path_params: ['src', 'dst'],
  url_params: [],
  command_params: [],
  env_params: [],
  header_params: [],
  arg_aliases: { from: 'src' },
  required: [],
};
const copy: ConstrainedTool = { name: 'fs_copy', argSchema };

function allows(constraints: ToolArgConstraint[], args: Record<string, JsonValue>, tool = copy): boolean {
  const compiled = compileArgConstraints(constraints, tool);
  try {
    judge(compiled, args);
    return true;
  } catch (thrown) {
    assert.ok(isToolError(thrown));
    assert.equal(thrown.code, 'E_POLICY');
    assert.equal(thrown.details['gate'], 'arguments');
    return false;
  }
}

/** As the gate does it, in a workspace without links. */
function judge({ check, clauses }: ArgConstraintCheck, args: Record<string, JsonValue>): void {
  check(args);
  const named = declaredPaths(args, argSchema.path_params).map((path) => ({ ...path, isSet: false }));
  const locate = (path: string) => ({ path, location: path, isFolder: false });
  callPathRule({ clauses, named, prefix: '.' })?.checkNamed('arguments', locate);
}

describe('compileArgConstraints', () => {
  test('judges every declared path when no key is given [S2-26]', () => {
    const inSource = [{ tool: 'fs_*', arg_patterns: ['src/**', 'docs/*'] }];
    assert.equal(allows(inSource, { src: 'src/a', dst: 'docs/b' }), true);
    assert.equal(allows(inSource, { src: 'src/a', dst: 'etc/b' }), false);
    assert.equal(allows(inSource, { src: 'etc/a', dst: 'src/b' }), false);
  });

  test('judges every element of an array [S2-26]', () => {
    const inSource = [{ tool: 'fs_copy', arg_patterns: ['src/**'] }];
    assert.equal(allows(inSource, { src: ['src/a', 'src/b'] }), true);
    assert.equal(allows(inSource, { src: ['src/a', 'etc/b'] }), false);
    assert.equal(allows(inSource, { src: ['src/a', ['src/b']] }), false);
  });

  test('leaves an absent argument and other tools alone [S2-26]', () => {
    const constraint = [{ tool: 'fs_copy', arg_patterns: ['src/**'] }];
    assert.equal(allows(constraint, {}), true);
    assert.equal(allows(constraint, { src: null }), true);
    assert.equal(allows(constraint, { src: 'etc' }, { ...copy, name: 'fs_move' }), true);
  });

  test('normalises path arguments and refuses those that escape [S2-26]', () => {
    const inSource = [{ tool: '*', arg_patterns: ['src/**'] }];
    assert.equal(allows(inSource, { src: './src//a' }), true);
    assert.equal(allows(inSource, { src: 'src/../etc/a' }), false);
    assert.equal(allows(inSource, { src: '../src/a' }), false);
    assert.equal(allows([{ tool: '*', arg_patterns: ['**'] }], { src: '/etc/passwd' }), false);
  });

  test('matches other arguments as they are, numbers and booleans by their text [S2-26]', () => {
    const url = [{ tool: '*', arg_key: 'url', arg_patterns: ['https://a.org/**'] }];
    assert.equal(allows(url, { url: 'https://a.org/x' }), true);
    assert.equal(allows(url, { url: 'https://a.org/../x' }), false);
    const depth = [{ tool: '*', arg_key: 'depth', arg_patterns: ['[0-3]'] }];
    assert.equal(allows(depth, { depth: 3 }), true);
    assert.equal(allows(depth, { depth: 4 }), false);
    assert.equal(allows(depth, { depth: { value: 3 } }), false);
  });

  test('reads a key that is an alias as the canonical one [S2-26]', () => {
    const constraint = [{ tool: '*', arg_key: 'from', arg_patterns: ['src/**'] }];
    assert.equal(allows(constraint, { src: 'etc/a' }), false);
    assert.equal(allows(constraint, { src: 'src/a' }), true);
  });

  test('must satisfy every constraint, and an empty pattern list allows nothing [S2-26]', () => {
    const both = [
      { tool: '*', arg_patterns: ['src/**'] },
      { tool: '*', arg_patterns: ['**/*.ts'] },
    ];
    assert.equal(allows(both, { src: 'src/a.ts' }), true);
    assert.equal(allows(both, { src: 'src/a.js' }), false);
    assert.equal(allows([{ tool: '*', arg_patterns: [] }], { src: 'a' }), false);
    assert.equal(allows([], { src: 'a' }), true);
  });

  test('names the key, the value cut short, and what would pass [S2-26]', () => {
    const compiled = compileArgConstraints([{ tool: '*', arg_patterns: ['src/**', 'docs/**'] }], copy);
    assert.throws(
      () => judge(compiled, { src: `etc/${'x'.repeat(200)}` }),
      (thrown) => {
        assert.ok(isToolError(thrown));
        assert.equal(thrown.message, `Argument is not allowed by policy: src = "etc/${'x'.repeat(76)}…"`);
        assert.equal(thrown.path, 'src');
        assert.deepEqual(thrown.details, {
          kind: 'policy_denial',
          retry: 'not_retryable',
          gate: 'arguments',
          reason: 'arg_constraint',
          key: 'src',
          field: 'arg_constraints',
          next: 'use a value that matches src/** or docs/**',
        });
        return true;
      },
    );
  });

  test('refuses every call under a constraint that finds no argument [S2-26]', () => {
    const bare = {
      name: 'proc_list',
      argSchema: {
        path_params: [],
        url_params: [],
        command_params: [],
        env_params: [],
        header_params: [],
        arg_aliases: {},
        required: [],
      },
    };
    assert.equal(allows([{ tool: '*', arg_patterns: ['src/**'] }], {}, bare), false);
    assert.equal(allows([{ tool: '*', arg_patterns: ['x'], arg_key: 'filter' }], {}, bare), true);
  });
});
