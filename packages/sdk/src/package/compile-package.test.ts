import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { type CompiledToolFacts, type CompileInput, compilePackage } from './compile-package.ts';
import { fingerprintPackage } from './fingerprint.ts';
import { buildSnapshot } from './registry-snapshot.ts';

const read: CompiledToolFacts = { name: 'file_read', effect: 'read', risk: 'low', schemaDigest: 'sha256:aa' };
const write: CompiledToolFacts = { name: 'file_write', effect: 'write', risk: 'medium', schemaDigest: 'sha256:bb' };
const input: CompileInput = {
  packageId: 'package.test',
  agentId: 'agent.test',
  registryFingerprint: 'sha256:cc',
  tools: [read, write],
};

const fingerprintOf = (changes: Partial<CompileInput>) =>
  fingerprintPackage(compilePackage({ ...input, ...changes }).package);

describe('compilePackage', () => {
  test('makes one capability and one route for a tool [S1-12 S1-36]', () => {
    const compiled = compilePackage({ ...input, tools: [read] });
    const policy = { kind: 'permission', id: 'policy.registry', version: 'sha256:cc' };
    const source = { kind: 'sdk', id: 'tool-runtime', trust: 'sdk_generated', privacy: 'internal' };
    const [capability] = compiled.package.capabilities;
    assert.match(capability?.version ?? '', /^sha256:[0-9a-f]{64}$/);
    assert.deepEqual(compiled.package.capabilities, [
      {
        capability_id: 'tool.file_read',
        kind: 'tool',
        source: { kind: 'sdk_built_in', source_ref: source },
        namespace: 'tool-runtime',
        version: capability?.version,
        visibility: 'active',
        projection: { type: 'provider_tool_schema', schema_ref: 'sha256:aa' },
        executor_ref: 'executor.tool.file_read',
        policy_ref: policy,
        sidecar_refs: [],
        privacy: 'internal',
        readiness: { status: 'active' },
      },
    ]);
    assert.deepEqual(compiled.routes, [
      {
        capability_id: 'tool.file_read',
        canonical_tool_name: 'file_read',
        namespace: 'tool-runtime',
        source,
        destination: { kind: 'tool', id: 'file_read' },
        executor_ref: 'executor.tool.file_read',
        policy_refs: [policy],
        sidecar_refs: [],
        effect_class: 'read',
        risk_class: 'low',
        privacy: 'internal',
        retention: 'run_scoped',
      },
    ]);
  });

  test('its package and routes make a snapshot [S1-2]', () => {
    const compiled = compilePackage(input);
    const snapshot = buildSnapshot(compiled.package, compiled.routes);
    assert.deepEqual(
      snapshot.routes.map((route) => route.canonical_tool_name),
      ['file_read', 'file_write'],
    );
  });

  test('an external tool keeps its own executor, namespace, id and source [S4-50]', () => {
    const source = { kind: 'external_runtime', id: 'tool.scan', trust: 'external', privacy: 'internal' } as const;
    const scan = {
      ...read,
      name: 'scan',
      executorRef: 'executor.external',
      namespace: 'acme',
      capabilityId: 'ext.scan',
    };
    const { package: pkg, routes } = compilePackage({ ...input, tools: [{ ...scan, source }] });
    assert.equal(routes[0]?.executor_ref, 'executor.external');
    assert.deepEqual(pkg.capabilities[0]?.source, { kind: 'tool_pack', source_ref: source });
    assert.equal(buildSnapshot(pkg, routes).findByName('scan')?.capability_id, 'ext.scan');
  });

  test('refuses two tools of one name [S1-4]', () => {
    assert.throws(() => compilePackage({ ...input, tools: [read, read] }), { code: 'E_VALIDATION_FAIL' });
  });

  test('the order of tools and of policies leaves the fingerprint alone [S1-36]', () => {
    const a = { kind: 'sandbox', id: 'policy.a' } as const;
    const b = { kind: 'approval', id: 'policy.b' } as const;
    assert.equal(fingerprintOf({ tools: [write, read] }), fingerprintOf({ tools: [read, write] }));
    assert.equal(fingerprintOf({ policyRefs: [a, b] }), fingerprintOf({ policyRefs: [b, a, b] }));
    assert.notEqual(fingerprintOf({ policyRefs: [a] }), fingerprintOf({ policyRefs: [b] }));
  });

  test('every fact about a tool, and the registry, reaches the fingerprint [S1-36]', () => {
    const before = fingerprintOf({ tools: [read] });
    assert.equal(before, fingerprintOf({ tools: [{ ...read }] }));
    const changes: Partial<CompiledToolFacts>[] = [
      { name: 'file_peek' },
      { effect: 'write' },
      { risk: 'high' },
      { schemaDigest: 'sha256:dd' },
      { executorRef: 'executor.other' },
      { namespace: 'other' },
      { capabilityId: 'tool.other' },
      { source: { kind: 'host', id: 'host', trust: 'host_provided', privacy: 'internal' } },
    ];
    for (const change of changes) assert.notEqual(fingerprintOf({ tools: [{ ...read, ...change }] }), before);
    assert.notEqual(fingerprintOf({ tools: [read], registryFingerprint: 'sha256:ee' }), before);
  });

  test('works without tools and with many [S1-36]', () => {
    const many = Array.from({ length: 300 }, (_, at) => ({ ...read, name: `tool_${at}` }));
    for (const tools of [[], many]) {
      const compiled = compilePackage({ ...input, tools });
      assert.equal(buildSnapshot(compiled.package, compiled.routes).routes.length, tools.length);
    }
  });
});
