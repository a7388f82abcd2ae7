import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { compilePackage } from './compile-package.ts';
import { fingerprintPackage } from './fingerprint.ts';
import { applyDelta, type PackageDelta } from './package-delta.ts';

const compile = (names: readonly string[]) =>
  compilePackage({
    packageId: 'package.test',
    agentId: 'agent.test',
    registryFingerprint: 'sha256:cc',
    tools: names.map((name) => ({ name, effect: 'read', risk: 'low', schemaDigest: `sha256:${name}` })),
  }).package;

const pkg = compile(['file_read', 'grep']);
const [added] = compile(['fs_list']).capabilities;
const source = { kind: 'host', id: 'host', trust: 'host_provided', privacy: 'internal' } as const;
const delta: PackageDelta = {
  previous_fingerprint: fingerprintPackage(pkg),
  requested_by: source,
  reason: 'test',
};
const sidecar = {
  sidecar_id: 'sidecar.a',
  kind: 'facts',
  version: 'v1',
  refs: [],
  policy_refs: [],
  content_hash: 'sha256:aa',
};
const catalog = {
  catalog_id: 'catalog.a',
  source_kind: 'mcp_server',
  source_ref: source,
  trust_state: 'external',
  activation_policy_ref: { kind: 'permission', id: 'policy.named' },
  candidates: [],
} as const;

describe('applyDelta', () => {
  test('removes, then adds, and hands back a new valid package [S1-36]', () => {
    const before = JSON.stringify(pkg);
    const next = applyDelta(pkg, {
      ...delta,
      deactivated_capability_ids: ['tool.grep'],
      activated_capabilities: [added!],
      sidecars: [sidecar],
      catalogs: [catalog],
    });
    assert.deepEqual(
      next.capabilities.map((capability) => capability.capability_id),
      ['tool.file_read', 'tool.fs_list'],
    );
    assert.deepEqual([next.sidecars, next.catalogs], [[sidecar], [catalog]]);
    assert.notEqual(fingerprintPackage(next), fingerprintPackage(pkg));
    assert.equal(JSON.stringify(pkg), before);
  });

  test('an empty delta changes nothing [S1-36]', () => {
    assert.deepEqual(applyDelta(pkg, delta), pkg);
  });

  test('refuses a delta made for another package [S1-36]', () => {
    const next = applyDelta(pkg, { ...delta, activated_capabilities: [added!] });
    assert.throws(() => applyDelta(next, { ...delta, deactivated_capability_ids: ['tool.grep'] }), {
      code: 'E_VALIDATION_FAIL',
      message: /previous_fingerprint$/,
    });
    applyDelta(next, {
      ...delta,
      previous_fingerprint: fingerprintPackage(next),
      deactivated_capability_ids: ['tool.grep'],
    });
  });

  test('one delta can replace a capability, but not add it twice [S1-36]', () => {
    const replacement = { ...pkg.capabilities[1]!, version: 'v2' };
    const replacing = { ...delta, activated_capabilities: [replacement], deactivated_capability_ids: ['tool.grep'] };
    assert.equal(applyDelta(pkg, replacing).capabilities[1]?.version, 'v2');
    assert.throws(() => applyDelta(pkg, { ...delta, activated_capabilities: [replacement] }), {
      message: /more than once/,
    });
  });

  test('refuses to remove what is not there and to activate what is not valid [S1-36]', () => {
    assert.throws(() => applyDelta(pkg, { ...delta, deactivated_capability_ids: ['tool.none'] }), {
      message: /deactivated_capability_ids$/,
    });
    assert.throws(() => applyDelta(pkg, { ...delta, activated_capabilities: [{ ...added!, kind: 'mcp_tool' }] }), {
      message: /Reserved capability kind/,
    });
  });
});
