import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { isToolError } from '@tool-runtime/protocol';
import { compilePackage } from './compile-package.ts';
import { fingerprintPackage } from './fingerprint.ts';
import { hookSidecar } from './hook-spec.ts';
import { createPackage } from './runtime-package.ts';
import { parsePackage } from './runtime-package-schema.ts';

const { package: compiled } = compilePackage({
  packageId: 'package.test',
  agentId: 'agent.test',
  registryFingerprint: 'sha256:cc',
  tools: [{ name: 'file_read', effect: 'read', risk: 'low', schemaDigest: 'sha256:aa' }],
});
const named = { kind: 'permission', id: 'policy.named' } as const;
const source = { kind: 'host', id: 'host', trust: 'host_provided', privacy: 'internal' } as const;
const hook = {
  hook_id: 'hook.audit',
  version: 'v1',
  point: 'before_tool_call',
  rights: ['observe', 'deny'],
  executor_ref: 'executor.hook',
  policy_ref: named,
} as const;

const full = createPackage({
  ...compiled,
  output_contracts: [{ schema_id: 'schema.a', schema_version: '1', schema_fingerprint: 'sha256:aa' }],
  output_sinks: [{ sink_id: 'sink.a', delivery_policy_ref: named }],
  sidecars: [hookSidecar(hook)],
  hooks: [hook],
  isolation_requirements: [{ isolation_ref: 'isolation.a', minimum_class: 'sandbox', policy_ref: named }],
  catalogs: [
    {
      catalog_id: 'catalog.a',
      source_kind: 'mcp_server',
      source_ref: source,
      trust_state: 'external',
      activation_policy_ref: named,
      candidates: ['mcp.a'],
    },
  ],
  volatile: { run_id: 'run.1', timestamp_ms: 5 },
});

describe('parsePackage', () => {
  test('reads back what was serialised, fingerprint included [S1-36]', () => {
    const read = parsePackage(JSON.parse(JSON.stringify(full)));
    assert.deepEqual(read, full);
    assert.equal(fingerprintPackage(read), fingerprintPackage(full));
    assert.ok(Object.isFrozen(read.capabilities));
  });

  test('tolerates absent optional members [S1-13 S1-36]', () => {
    const { package_id, provider_route } = full;
    const read = parsePackage({
      package_id,
      provider_route,
      agent: { agent_id: 'agent.test' },
      capabilities: [
        {
          capability_id: 'mcp.a',
          kind: 'mcp_tool',
          source: { kind: 'mcp_server', source_ref: { id: 'server.a' } },
          namespace: 'mcp',
          version: 'v1',
          policy_ref: { id: 'policy.host' },
        },
      ],
    });
    assert.deepEqual(read.capabilities[0], {
      capability_id: 'mcp.a',
      kind: 'mcp_tool',
      source: {
        kind: 'mcp_server',
        source_ref: { kind: 'host', id: 'server.a', trust: 'host_provided', privacy: 'content_refs_only' },
      },
      namespace: 'mcp',
      version: 'v1',
      visibility: 'hidden',
      projection: { type: 'not_projected' },
      policy_ref: { kind: 'host', id: 'policy.host' },
      sidecar_refs: [],
      privacy: 'content_refs_only',
      readiness: { status: 'reserved_inactive' },
    });
    assert.equal(read.child_lifecycle.cleanup_timeout_ms, 30_000);
    fingerprintPackage(read);
  });

  test('accepts PascalCase words and stores them in snake_case [S1-36]', () => {
    const text = JSON.stringify(full)
      .replaceAll('"sdk_built_in"', '"SdkBuiltIn"')
      .replaceAll('"permission"', '"Permission"')
      .replaceAll('"before_tool_call"', '"BeforeToolCall"');
    assert.notEqual(text, JSON.stringify(full));
    assert.deepEqual(parsePackage(JSON.parse(text)), full);
  });

  test('refuses what it cannot hold and names every place [S1-44 S1-45]', () => {
    const bad = { ...JSON.parse(JSON.stringify(full)), package_id: 'a\u0000b', colour: 'red' };
    assert.throws(
      () => parsePackage(bad),
      (thrown) => {
        assert.ok(isToolError(thrown));
        assert.equal(thrown.code, 'E_VALIDATION_FAIL');
        assert.equal(thrown.details['kind'], 'invalid_package');
        assert.equal((thrown.details['problems'] as string[]).length, 2);
        return true;
      },
    );
    for (const value of [null, [], 'text', { ...full, capabilities: [{}] }]) {
      assert.throws(() => parsePackage(value), { code: 'E_VALIDATION_FAIL' });
    }
  });
});
