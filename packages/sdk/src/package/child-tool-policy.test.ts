import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { SIDE_EFFECT_LEVELS, type SideEffectLevel, TOOL_KINDS } from '../contracts/annotations.ts';
import { EFFECT_CLASSES } from '../contracts/classes.ts';
import { CAPABILITY_KINDS, type CapabilitySpec } from './capability.ts';
import {
  type CapabilityFacts,
  type ChildToolPolicy,
  childToolPolicySchema,
  READ_ONLY_TOOLS,
  retains,
  settleToolPolicy,
} from './child-tool-policy.ts';
import { compilePackage } from './compile-package.ts';

const [tool] = compilePackage({
  packageId: 'package.test',
  agentId: 'agent.test',
  registryFingerprint: 'sha256:cc',
  tools: [{ name: 'probe', effect: 'read', risk: 'low', schemaDigest: 'sha256:aa' }],
}).package.capabilities as [CapabilitySpec];
const { executor_ref: _executor, ...inert } = tool;

const reader: CapabilityFacts = { effects: ['read'], annotations: { kind: 'read', side_effect_level: 'read_only' } };
const writer: CapabilityFacts = {
  effects: ['write'],
  annotations: { kind: 'edit', side_effect_level: 'workspace_write' },
};
const fetcher: CapabilityFacts = { effects: ['network'], annotations: { kind: 'fetch', side_effect_level: 'network' } };
const unknown: CapabilityFacts = { effects: [], annotations: undefined };

const inherit: ChildToolPolicy = { type: 'inherit_allowlist' };
const none: ChildToolPolicy = { type: 'no_tools' };
const only = (...capability_ids: string[]): ChildToolPolicy => ({ type: 'custom_allowlist', capability_ids });
const policies = [inherit, READ_ONLY_TOOLS, none, only(), only('tool.probe')];

describe('retains', () => {
  test('inherit_allowlist keeps every capability [S3-20]', () => {
    for (const facts of [reader, writer, fetcher, unknown]) assert.ok(retains(inherit, tool, facts));
  });

  test('read_only keeps a reader and strips a writer [S3-21]', () => {
    assert.equal(retains(READ_ONLY_TOOLS, tool, reader), true);
    assert.equal(retains(READ_ONLY_TOOLS, tool, writer), false);
  });

  test('read_only asks route, kind and level, and each can refuse alone [S3-21]', () => {
    const kept: string[] = [];
    for (const effect of EFFECT_CLASSES) {
      for (const kind of TOOL_KINDS) {
        for (const side_effect_level of SIDE_EFFECT_LEVELS) {
          const facts: CapabilityFacts = { effects: [effect], annotations: { kind, side_effect_level } };
          if (retains(READ_ONLY_TOOLS, tool, facts)) kept.push(`${effect} ${kind} ${side_effect_level}`);
        }
      }
    }
    assert.deepEqual(kept, [
      'read read none',
      'read read read_only',
      'read search none',
      'read search read_only',
      'read think none',
      'read think read_only',
      'read fetch none',
      'read fetch read_only',
    ]);
  });

  test('read_only strips what has no route, no annotation or a level nobody knows [S3-21]', () => {
    const strange = 'harmless' as SideEffectLevel;
    for (const facts of [
      unknown,
      { ...reader, effects: [] },
      { ...reader, annotations: undefined },
      { ...reader, annotations: { kind: 'read', side_effect_level: strange } },
    ] as const) {
      assert.equal(retains(READ_ONLY_TOOLS, tool, facts), false);
    }
  });

  test('read_only believes no route while another one of the same capability writes [S3-21]', () => {
    assert.equal(retains(READ_ONLY_TOOLS, tool, { ...reader, effects: ['read', 'read'] }), true);
    for (const effects of [
      ['read', 'write'],
      ['process', 'read'],
    ] as const) {
      assert.equal(retains(READ_ONLY_TOOLS, tool, { ...reader, effects }), false);
    }
  });

  test('a network read is kept only where it is listed [S3-21 S3-23]', () => {
    assert.deepEqual(
      policies.map((policy) => retains(policy, tool, fetcher)),
      [true, false, false, false, true],
    );
  });

  test('looks at the executor, whatever the kind [S3-22 S3-23]', () => {
    for (const kind of CAPABILITY_KINDS) {
      assert.equal(retains(none, { ...tool, kind }, reader), false, kind);
      assert.equal(retains(READ_ONLY_TOOLS, { ...tool, kind }, writer), false, kind);
      assert.equal(retains(only('tool.other'), { ...tool, kind }, reader), false, kind);
      assert.equal(retains(only('tool.probe'), { ...tool, kind }, writer), true, kind);
      for (const policy of policies) assert.equal(retains(policy, { ...inert, kind }, unknown), true, kind);
    }
  });

  test('keeps nothing for a policy nobody knows [S3-19]', () => {
    const strange = { type: 'everything' } as unknown as ChildToolPolicy;
    assert.throws(() => retains(strange, tool, reader), { code: 'E_VALIDATION_FAIL' });
    assert.throws(() => settleToolPolicy(strange, new Set()), { code: 'E_VALIDATION_FAIL' });
  });
});

describe('settleToolPolicy', () => {
  const known = new Set(['tool.a', 'tool.b', 'tool.Z']);

  test('names every listed id the parent does not have [S3-23]', () => {
    assert.throws(() => settleToolPolicy(only('tool.y', 'tool.a', 'tool.x', 'tool.y'), known), {
      code: 'E_VALIDATION_FAIL',
      details: {
        kind: 'invalid_state_transition',
        retry: 'repair_needed',
        field: 'tool_policy.capability_ids',
        unknown: ['tool.x', 'tool.y'],
        next: 'List only capability ids of the parent package',
      },
    });
    assert.throws(() => settleToolPolicy(only('tool.A'), known), { code: 'E_VALIDATION_FAIL' });
  });

  test('writes one list in one way [S3-23 S3-38]', () => {
    const settled = only('tool.Z', 'tool.a', 'tool.b');
    assert.deepEqual(settleToolPolicy(only('tool.b', 'tool.Z', 'tool.a', 'tool.b'), known), settled);
    assert.deepEqual(settleToolPolicy(settled, known), settled);
    assert.deepEqual(settleToolPolicy(only(), known), only());
  });

  test('records nothing of a policy but what it says [S3-37]', () => {
    for (const policy of [inherit, READ_ONLY_TOOLS, none]) {
      assert.deepEqual(settleToolPolicy({ ...policy, note: 'x' } as unknown as ChildToolPolicy, known), policy);
    }
  });
});

describe('childToolPolicySchema', () => {
  test('reads the four variants by their tags, and read_only where nothing is given [S3-19]', () => {
    for (const policy of policies) {
      assert.deepEqual(childToolPolicySchema.parse(JSON.parse(JSON.stringify(policy))), policy);
    }
    assert.deepEqual(childToolPolicySchema.parse(undefined), { type: 'read_only' });
  });

  test('refuses anything else [S3-19]', () => {
    for (const value of [
      null,
      'read_only',
      { type: 'all' },
      { type: 'custom_allowlist' },
      { type: 'read_only', capability_ids: [] },
      only(''),
    ]) {
      assert.equal(childToolPolicySchema.safeParse(value).success, false, JSON.stringify(value));
    }
  });
});
