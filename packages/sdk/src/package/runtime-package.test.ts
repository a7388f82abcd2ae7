import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import fc from 'fast-check';
import { createPackage, frozenCopy, type PackageInput } from './runtime-package.ts';
import { validatePackage } from './validate-package.ts';

const least: PackageInput = {
  package_id: 'package.test',
  agent: { agent_id: 'agent.test' },
  provider_route: { route_id: 'provider.test', model_id: 'model.test' },
};

describe('createPackage', () => {
  test('fills every field with a safe default [S1-36]', () => {
    const { fingerprint_manifest, ...rest } = createPackage(least);
    assert.deepEqual(rest, {
      schema_version: 1,
      package_id: 'package.test',
      agent: { agent_id: 'agent.test', name: 'agent.test', default_behavior_refs: [] },
      provider_route: { route_id: 'provider.test', model_id: 'model.test' },
      provider_capabilities: { capability_version: 'v1' },
      output_contracts: [],
      output_sinks: [],
      capabilities: [],
      sidecars: [],
      hooks: [],
      isolation_requirements: [],
      catalogs: [],
      child_lifecycle: {
        policy_ref: { kind: 'runtime_package', id: 'policy.child.safe_default' },
        manual_cancel: 'cancel_agent_owned_children',
        detach_policy_ref: { kind: 'runtime_package', id: 'policy.child.detach_denied' },
        cleanup_timeout_ms: 30_000,
      },
      policies: { policy_refs: [] },
      volatile: {},
    });
    assert.equal(fingerprint_manifest.algorithm, 'sha256:runtime-package-canonical-v1');
    validatePackage(createPackage(least));
  });

  test('is frozen to the leaves and shares nothing with its input [S1-36]', () => {
    const policy_refs = [{ kind: 'sandbox', id: 'policy.a' } as { kind: 'sandbox'; id: string }];
    const pkg = createPackage({ ...least, policies: { policy_refs } });
    policy_refs[0]!.id = 'policy.changed';
    policy_refs.push({ kind: 'sandbox', id: 'policy.more' });
    assert.deepEqual(pkg.policies.policy_refs, [{ kind: 'sandbox', id: 'policy.a' }]);
    assert.ok(!Object.isFrozen(policy_refs));
    assert.throws(() => Object.assign(pkg.policies.policy_refs[0]!, { id: 'x' }), TypeError);
    assert.throws(() => Object.assign(pkg.agent, { agent_id: 'x' }), TypeError);
    assert.throws(() => (pkg.capabilities as unknown[]).push({}), TypeError);
  });

  test('computes the manifest whatever the input claims [S1-36]', () => {
    const honest = createPackage(least);
    const claimed = { ...honest.fingerprint_manifest, included_groups: [] };
    assert.deepEqual(createPackage({ ...honest, fingerprint_manifest: claimed }), honest);
  });
});

function isDeepFrozen(value: unknown): boolean {
  if (typeof value !== 'object' || value === null) return true;
  return Object.isFrozen(value) && Object.values(value).every(isDeepFrozen);
}

test('a frozen copy equals its source, which stays as it was [S1-16]', () => {
  fc.assert(
    fc.property(fc.jsonValue(), (value) => {
      const source = JSON.stringify(value);
      const copy = frozenCopy(value);
      assert.equal(JSON.stringify(copy), source);
      assert.ok(isDeepFrozen(copy));
      if (typeof value === 'object' && value !== null) assert.ok(!Object.isFrozen(value));
    }),
  );
});

test('a member named __proto__ stays a member [S1-16]', () => {
  const copy = frozenCopy(JSON.parse('{"__proto__":{"polluted":true}}'));
  assert.equal(Object.getPrototypeOf(copy), Object.prototype);
  assert.deepEqual(Object.keys(copy), ['__proto__']);
});

test('undefined members are dropped [S1-13]', () => {
  assert.deepEqual(Object.keys(frozenCopy({ a: 1, b: undefined })), ['a']);
});
