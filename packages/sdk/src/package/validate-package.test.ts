import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { isToolError, type ToolError } from '@tool-runtime/protocol';
import { compilePackage } from './compile-package.ts';
import { type HookSpec, hookSidecar } from './hook-spec.ts';
import type { PackageSidecar } from './package-parts.ts';
import { createPackage, type RuntimePackage } from './runtime-package.ts';
import { validatePackage } from './validate-package.ts';

const { package: valid } = compilePackage({
  packageId: 'package.test',
  agentId: 'agent.test',
  registryFingerprint: 'sha256:cc',
  tools: [
    { name: 'file_read', effect: 'read', risk: 'low', schemaDigest: 'sha256:aa' },
    { name: 'file_write', effect: 'write', risk: 'medium', schemaDigest: 'sha256:bb' },
  ],
});
const [first, second] = valid.capabilities as [
  RuntimePackage['capabilities'][number],
  RuntimePackage['capabilities'][number],
];
const named = { kind: 'permission', id: 'policy.named' } as const;
const sidecar: PackageSidecar = {
  sidecar_id: 'sidecar.a',
  kind: 'facts',
  version: 'v1',
  refs: [],
  policy_refs: [named],
  content_hash: 'sha256:aa',
};
const refToSidecar = { sidecar_id: 'sidecar.a', kind: 'facts', version: 'v1' };
const hook: HookSpec = {
  hook_id: 'hook.a',
  version: 'v1',
  point: 'before_tool_call',
  rights: ['observe', 'deny'],
  executor_ref: 'executor.hook',
  policy_ref: named,
};

const changed = (changes: Partial<RuntimePackage>) => createPackage({ ...valid, ...changes });
const accepts = (changes: Partial<RuntimePackage>) => validatePackage(changed(changes));

function refusal(changes: Partial<RuntimePackage>): ToolError {
  try {
    validatePackage(changed(changes));
  } catch (thrown) {
    assert.ok(isToolError(thrown));
    assert.equal(thrown.code, 'E_VALIDATION_FAIL');
    return thrown;
  }
  assert.fail('the package was accepted');
}

describe('validatePackage', () => {
  test('accepts a compiled package [S1-36]', () => {
    validatePackage(valid);
  });

  test('refuses another schema version [S1-36]', () => {
    assert.match(refusal({ schema_version: 2 }).message, /schema_version$/);
    accepts({ schema_version: 1 });
  });

  test('refuses empty or malformed package, agent, route and model ids [S1-36 S1-44]', () => {
    assert.equal(refusal({ package_id: '' }).details['field'], 'runtime_package.package_id');
    assert.equal(refusal({ agent: { ...valid.agent, agent_id: '\n' } }).details['field'], 'agent.agent_id');
    const route = { route_id: 'provider.a', model_id: 'model.a' };
    assert.equal(refusal({ provider_route: { ...route, route_id: '' } }).details['field'], 'provider_route.route_id');
    assert.equal(refusal({ provider_route: { ...route, model_id: '' } }).details['field'], 'provider_route.model_id');
    accepts({ provider_route: route });
  });

  test('refuses an invalid capability by its place [S1-36]', () => {
    const { executor_ref: _dropped, ...unreachable } = second;
    assert.equal(refusal({ capabilities: [first, unreachable] }).details['field'], 'capabilities[1].executor_ref');
    accepts({ capabilities: [first, { ...unreachable, visibility: 'hidden' }] });
  });

  test('refuses duplicate capability and sidecar ids [S1-36]', () => {
    assert.equal(refusal({ capabilities: [first, first] }).details['id'], first.capability_id);
    assert.equal(refusal({ sidecars: [sidecar, sidecar] }).details['id'], 'sidecar.a');
    accepts({ sidecars: [sidecar, { ...sidecar, sidecar_id: 'sidecar.b' }] });
  });

  test('refuses a sidecar ref that leads nowhere [S1-36]', () => {
    const using = (ref: object) => ({
      sidecars: [sidecar],
      capabilities: [{ ...first, sidecar_refs: [{ ...refToSidecar, ...ref }] }],
    });
    accepts(using({}));
    accepts(using({ content_hash: 'sha256:aa' }));
    for (const wrong of [
      { sidecar_id: 'sidecar.z' },
      { kind: 'z' },
      { version: 'v2' },
      { content_hash: 'sha256:zz' },
    ]) {
      assert.equal(refusal(using(wrong)).details['field'], 'capabilities[0].sidecar_refs[0]');
    }
    accepts({ sidecars: [{ ...sidecar, refs: [refToSidecar] }] });
    assert.match(
      refusal({ sidecars: [{ ...sidecar, refs: [{ ...refToSidecar, version: 'v9' }] }] }).message,
      /refs\[0\]$/,
    );
  });

  test('refuses an output contract whose fingerprint has no sha256 prefix [S1-36]', () => {
    const contract = { schema_id: 'schema.a', schema_version: '1', schema_fingerprint: 'sha256:aa' };
    accepts({ output_contracts: [contract] });
    assert.match(refusal({ output_contracts: [{ ...contract, schema_fingerprint: 'md5:aa' }] }).message, /\[0\]/);
  });

  test('refuses a hook without its sidecar or with one that says something else [S1-36]', () => {
    accepts({ hooks: [hook], sidecars: [hookSidecar(hook)] });
    accepts({ hooks: [{ ...hook, rights: ['deny', 'observe'] }], sidecars: [hookSidecar(hook)] });
    assert.equal(refusal({ hooks: [hook] }).details['field'], 'hooks[0].sidecar');
    const other = hookSidecar({ ...hook, executor_ref: 'executor.other' });
    assert.match(refusal({ hooks: [hook], sidecars: [other] }).message, /says something else: hooks\[0\]$/);
  });

  test('refuses an invalid hook [S1-36]', () => {
    const twin = (spec: HookSpec) => ({ hooks: [spec], sidecars: [hookSidecar(spec)] });
    refusal(twin({ ...hook, rights: [] }));
    refusal(twin({ ...hook, rights: ['rewrite_tool_result'] }));
    refusal(twin({ ...hook, policy_ref: { kind: 'host', id: 'policy.host' } }));
    accepts(twin({ ...hook, point: 'after_tool_call', rights: ['rewrite_tool_result'] }));
  });

  test('refuses an invalid isolation requirement and a capability that names a missing one [S1-36]', () => {
    const requirement = { isolation_ref: 'isolation.a', minimum_class: 'sandbox', policy_ref: named } as const;
    const capabilities = [{ ...first, isolation_ref: 'isolation.a' }];
    accepts({ isolation_requirements: [requirement], capabilities });
    assert.equal(refusal({ capabilities }).details['field'], 'capabilities[0].isolation_ref');
    refusal({ isolation_requirements: [{ ...requirement, policy_ref: { kind: 'host', id: 'x' } }] });
  });

  test('refuses a clean-up time that is no whole number of milliseconds [S1-36]', () => {
    for (const cleanup_timeout_ms of [-1, 0.5, Number.NaN]) {
      refusal({ child_lifecycle: { ...valid.child_lifecycle, cleanup_timeout_ms } });
    }
    accepts({ child_lifecycle: { ...valid.child_lifecycle, cleanup_timeout_ms: 0 } });
  });

  test('lists all problems while throwing the first [S1-45]', () => {
    const error = refusal({ schema_version: 9, package_id: '', sidecars: [sidecar, sidecar] });
    assert.deepEqual(error.details['problems'], [
      'Package schema version is not supported: schema_version',
      'Required field is missing: runtime_package.package_id',
      'Id is used more than once: sidecars[1].sidecar_id',
    ]);
    assert.equal(error.details['kind'], 'invalid_state_transition');
    assert.equal(error.details['retry'], 'repair_needed');
  });
});
