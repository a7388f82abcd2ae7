import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import fc from 'fast-check';
import {
  completeAnnotations,
  isReadOnlyKind,
  mutationClass,
  parseSideEffectLevel,
  parseToolKind,
  SIDE_EFFECT_LEVELS,
  sideEffectRank,
  TOOL_KINDS,
} from './annotations.ts';

describe('tool kinds', () => {
  test('are nine snake_case names that round-trip through JSON [S2-1 S2-32]', () => {
    assert.deepEqual(
      [...TOOL_KINDS],
      ['read', 'edit', 'delete', 'move', 'search', 'execute', 'think', 'fetch', 'other'],
    );
    for (const kind of TOOL_KINDS) assert.equal(parseToolKind(JSON.parse(JSON.stringify(kind)) as string), kind);
    assert.equal(completeAnnotations().kind, 'other');
  });

  test('read an unknown string as other, which is never read-only [S2-2]', () => {
    for (const value of ['switch_mode', '', 'Read', 'READ', 'toString', '__proto__']) {
      assert.equal(parseToolKind(value), 'other');
    }
    fc.assert(
      fc.property(fc.string(), (value) => {
        fc.pre(!(TOOL_KINDS as readonly string[]).includes(value));
        return !isReadOnlyKind(parseToolKind(value));
      }),
    );
  });

  test('are read-only for exactly read, search, think and fetch [S2-3 S2-32]', () => {
    assert.deepEqual(TOOL_KINDS.filter(isReadOnlyKind).sort(), ['fetch', 'read', 'search', 'think']);
  });

  test('have one mutation class each [S2-4 S2-32]', () => {
    assert.deepEqual(Object.fromEntries(TOOL_KINDS.map((kind) => [kind, mutationClass(kind)])), {
      read: 'read_only',
      search: 'read_only',
      think: 'read_only',
      fetch: 'read_only',
      edit: 'workspace_write',
      delete: 'destructive',
      move: 'destructive',
      execute: 'ambient_side_effect',
      other: 'other',
    });
  });

  test('give an unannotated tool the mutation class other [S2-5]', () => {
    assert.equal(mutationClass(completeAnnotations(undefined).kind), 'other');
  });
});

describe('side-effect levels', () => {
  test('are five, and none by default [S2-6 S2-32]', () => {
    assert.deepEqual([...SIDE_EFFECT_LEVELS], ['none', 'read_only', 'workspace_write', 'process_exec', 'network']);
    assert.equal(completeAnnotations({}).side_effect_level, 'none');
  });

  test('rank from 0 to 4 in that order [S2-7 S2-32]', () => {
    assert.deepEqual(SIDE_EFFECT_LEVELS.map(sideEffectRank), [0, 1, 2, 3, 4]);
  });

  test('parse from their own JSON text, and from anything else to none [S2-8 S2-9 S2-32]', () => {
    for (const level of SIDE_EFFECT_LEVELS) {
      assert.equal(JSON.stringify(level), `"${level}"`);
      assert.equal(parseSideEffectLevel(JSON.parse(JSON.stringify(level)) as string), level);
    }
    for (const value of ['', 'Network', 'root', 'constructor']) assert.equal(parseSideEffectLevel(value), 'none');
  });
});

describe('completeAnnotations', () => {
  const defaults = {
    kind: 'other',
    side_effect_level: 'none',
    arg_schema: {
      path_params: [],
      url_params: [],
      command_params: [],
      env_params: [],
      header_params: [],
      arg_aliases: {},
      required: [],
    },
    capabilities: {},
    emits_artifacts: false,
    result_readers: [],
    inline_result: false,
  };

  test('defaults every field [S2-11 S2-32]', () => {
    assert.deepEqual(completeAnnotations(), defaults);
    assert.deepEqual(completeAnnotations({}), defaults);
  });

  test('accepts partial objects and keeps what they say [S2-10 S2-11]', () => {
    assert.deepEqual(completeAnnotations({ kind: 'edit', arg_schema: { path_params: ['path'] } }), {
      ...defaults,
      kind: 'edit',
      arg_schema: {
        path_params: ['path'],
        url_params: [],
        command_params: [],
        env_params: [],
        header_params: [],
        arg_aliases: {},
        required: [],
      },
    });
    const full = {
      kind: 'execute',
      side_effect_level: 'process_exec',
      arg_schema: {
        path_params: ['cwd'],
        url_params: ['url'],
        command_params: ['cmd'],
        env_params: ['env'],
        header_params: ['headers'],
        arg_aliases: { dir: 'cwd' },
        required: ['cmd'],
      },
      capabilities: { process: ['spawn'] },
      emits_artifacts: true,
      result_readers: ['file_read'],
      inline_result: true,
    } as const;
    assert.deepEqual(completeAnnotations(full), full);
  });
});
