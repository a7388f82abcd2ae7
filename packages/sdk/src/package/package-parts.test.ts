import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { sha256Hex } from '../platform/digest.ts';
import { manifestHash, manifestSidecar, type StripManifest } from './package-parts.ts';
import { createPackage } from './runtime-package.ts';
import { validatePackage } from './validate-package.ts';

const manifest: StripManifest = {
  parent_package_fingerprint: 'sha256:parent',
  child_agent_id: 'agent.child',
  selected_provider_route_id: 'route.parent',
  handoff_policy_variant: 'none',
  tool_policy: { type: 'custom_allowlist', capability_ids: ['tool.a'] },
  recursive_subagent_strip: true,
  stripped_capability_ids: ['tool.b'],
  retained_capability_ids: ['tool.a'],
  lifecycle_policy_ref: { kind: 'runtime_package', id: 'policy.child.parent_owned' },
  redaction_policy_ref: { kind: 'redaction', id: 'policy.redaction.subagent.default' },
};

describe('manifestHash', () => {
  test('is sha256 over canonical JSON, the same for every order of keys [S3-38]', () => {
    const canonical =
      '{"child_agent_id":"agent.child","handoff_policy_variant":"none",' +
      '"lifecycle_policy_ref":{"id":"policy.child.parent_owned","kind":"runtime_package"},' +
      '"parent_package_fingerprint":"sha256:parent","recursive_subagent_strip":true,' +
      '"redaction_policy_ref":{"id":"policy.redaction.subagent.default","kind":"redaction"},' +
      '"retained_capability_ids":["tool.a"],"selected_provider_route_id":"route.parent",' +
      '"stripped_capability_ids":["tool.b"],' +
      '"tool_policy":{"capability_ids":["tool.a"],"type":"custom_allowlist"}}';
    assert.equal(manifestHash(manifest), `sha256:${sha256Hex(canonical)}`);
    const reversed = Object.fromEntries(Object.entries(manifest).toReversed()) as unknown as StripManifest;
    assert.equal(manifestHash(reversed), manifestHash(manifest));
    assert.match(manifestHash(manifest), /^sha256:[0-9a-f]{64}$/);
  });

  test('moves with every field [S3-37 S3-38]', () => {
    const changes: { [Field in keyof StripManifest]: unknown } = {
      parent_package_fingerprint: 'sha256:other',
      child_agent_id: 'agent.other',
      selected_provider_route_id: 'route.other',
      handoff_policy_variant: 'selected_refs',
      tool_policy: { type: 'read_only' },
      recursive_subagent_strip: false,
      stripped_capability_ids: [],
      retained_capability_ids: ['tool.a', 'tool.c'],
      lifecycle_policy_ref: { kind: 'runtime_package', id: 'policy.child.other' },
      redaction_policy_ref: { kind: 'redaction', id: 'policy.redaction.other' },
    };
    assert.deepEqual(Object.keys(changes), Object.keys(manifest));
    const hashes = Object.entries(changes).map(([field, value]) => manifestHash({ ...manifest, [field]: value }));
    assert.equal(new Set([...hashes, manifestHash(manifest)]).size, hashes.length + 1);
  });
});

describe('manifestSidecar', () => {
  test('holds the hash, refers to itself and names both policies [S3-39]', () => {
    const self = {
      sidecar_id: 'sidecar.subagent.child_package_strip_manifest',
      kind: 'subagent_child_package_strip_manifest',
      version: 'v1',
    };
    assert.deepEqual(manifestSidecar(manifest), {
      ...self,
      refs: [self],
      policy_refs: [manifest.lifecycle_policy_ref, manifest.redaction_policy_ref],
      content_hash: manifestHash(manifest),
    });
  });

  test('makes a package that is valid [S3-39]', () => {
    validatePackage(
      createPackage({
        package_id: 'package.test',
        agent: { agent_id: 'agent.test' },
        provider_route: { route_id: 'route.test', model_id: 'model.test' },
        sidecars: [manifestSidecar(manifest)],
      }),
    );
  });
});
