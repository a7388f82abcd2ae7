import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import fc from 'fast-check';
import type { PolicyRef } from '../contracts/refs.ts';
import { canonicalPackage } from './canonical-package.ts';
import { compilePackage } from './compile-package.ts';
import { fingerprintPackage, isFingerprint } from './fingerprint.ts';
import { type HookSpec, hookSidecar } from './hook-spec.ts';
import { createPackage, type RuntimePackage } from './runtime-package.ts';

const named: PolicyRef = { kind: 'permission', id: 'policy.named' };
const policies: PolicyRef[] = [
  named,
  { kind: 'sandbox', id: 'policy.b', version: '2' },
  { kind: 'sandbox', id: 'policy.b' },
];
const source = { kind: 'host', id: 'host', trust: 'host_provided', privacy: 'internal' } as const;
const hook: HookSpec = {
  hook_id: 'hook.a',
  version: 'v1',
  point: 'before_tool_call',
  rights: ['observe', 'deny'],
  executor_ref: 'executor.hook',
  policy_ref: named,
};
const sidecars = ['b', 'a', 'Z'].map((id) => ({
  sidecar_id: `sidecar.${id}`,
  kind: 'facts',
  version: 'v1',
  refs: ['a', 'b'].map((other) => ({ sidecar_id: `sidecar.${other}`, kind: 'facts', version: 'v1' })),
  policy_refs: policies,
  content_hash: `sha256:${id}`,
}));

const { package: compiled } = compilePackage({
  packageId: 'package.test',
  agentId: 'agent.test',
  registryFingerprint: 'sha256:cc',
  tools: ['file_write', 'file_read', 'grep'].map((name) => ({
    name,
    effect: 'read',
    risk: 'low',
    schemaDigest: `sha256:${name}`,
  })),
});

const base = createPackage({
  ...compiled,
  agent: { ...compiled.agent, default_behavior_refs: policies },
  policies: { policy_refs: policies },
  sidecars: [...sidecars, hookSidecar(hook)],
  hooks: [hook],
  capabilities: compiled.capabilities.map((capability) => ({
    ...capability,
    projection: { type: 'produces_context_items', allowed_kinds: ['note', 'file', 'diff'] },
    sidecar_refs: sidecars.map(({ sidecar_id, kind, version }) => ({ sidecar_id, kind, version })),
  })),
  output_contracts: ['b', 'a', 'a'].map((id, at) => ({
    schema_id: `schema.${id}`,
    schema_version: `${at}`,
    schema_fingerprint: 'sha256:aa',
  })),
  output_sinks: ['b', 'a'].map((id) => ({ sink_id: `sink.${id}`, delivery_policy_ref: named })),
  isolation_requirements: ['b', 'a'].map((id) => ({
    isolation_ref: `isolation.${id}`,
    minimum_class: 'sandbox' as const,
    policy_ref: named,
  })),
  catalogs: ['b', 'a'].map((id) => ({
    catalog_id: `catalog.${id}`,
    source_kind: 'mcp_server' as const,
    source_ref: source,
    trust_state: 'external' as const,
    activation_policy_ref: named,
    candidates: ['mcp.z', 'mcp.a'],
  })),
});
const fingerprint = fingerprintPackage(base);

/** The same data with every list and every object in an order drawn from `next`. */
function shuffled<T>(value: T, next: () => number): T {
  if (typeof value !== 'object' || value === null) return value;
  const order = <U>(items: U[]): U[] =>
    items
      .map((item) => ({ item, at: next() }))
      .sort((a, b) => a.at - b.at)
      .map(({ item }) => item);
  if (Array.isArray(value)) return order(value.map((item) => shuffled(item, next))) as T;
  return Object.fromEntries(order(Object.entries(value).map(([key, member]) => [key, shuffled(member, next)]))) as T;
}

/** Every place of the data that holds a string or a number, as a path. */
function leaves(value: unknown, path: readonly string[] = []): (readonly string[])[] {
  if (typeof value !== 'object' || value === null) return [path];
  return Object.entries(value).flatMap(([key, member]) => leaves(member, [...path, key]));
}

function withLeaf(value: unknown, path: readonly string[], replace: (leaf: unknown) => unknown): unknown {
  const [key, ...rest] = path;
  if (key === undefined) return replace(value);
  const copy = (Array.isArray(value) ? [...value] : { ...(value as object) }) as Record<string, unknown>;
  copy[key] = withLeaf(copy[key], rest, replace);
  return copy;
}

describe('fingerprintPackage', () => {
  test('has the documented form [S1-9 S1-36]', () => {
    assert.match(fingerprint, /^sha256:runtime-package-canonical-v1:[0-9a-f]{64}$/);
    assert.ok(isFingerprint(fingerprint));
    assert.ok(!isFingerprint(fingerprint.toUpperCase()));
    assert.ok(!isFingerprint(`${fingerprint}0`));
  });

  test('stays the same across releases [S1-36]', () => {
    const least = createPackage({
      package_id: 'package.test',
      agent: { agent_id: 'agent.test' },
      provider_route: { route_id: 'provider.test', model_id: 'model.test' },
    });
    assert.equal(fingerprintPackage(least), PINNED);
  });

  test('no order of lists or keys matters [S1-36]', () => {
    fc.assert(
      fc.property(fc.infiniteStream(fc.double({ noNaN: true, min: 0, max: 1 })), (stream) => {
        const next = () => stream.next().value as number;
        assert.equal(fingerprintPackage(createPackage(shuffled(base, next))), fingerprint);
      }),
    );
  });

  test('every stable leaf matters [S1-36]', () => {
    const { fingerprint_manifest: _computed, volatile: _volatile, hooks: _hooks, ...stable } = base;
    const places = leaves(stable);
    assert.ok(places.length > 150);
    for (const place of places) {
      const leaf = (value: unknown) => (typeof value === 'number' ? value + 1 : `${value}x`);
      const other = withLeaf(stable, place, leaf) as RuntimePackage;
      const canonical = (pkg: RuntimePackage) => JSON.stringify(canonicalPackage(createPackage(pkg)));
      assert.notEqual(canonical(other), canonical(stable as RuntimePackage), place.join('.'));
      // Many of these changes also make the package invalid, and then it has no fingerprint at all.
      assert.notEqual(fingerprintOrNone(other), fingerprint, place.join('.'));
    }
  });

  test('one more or one other policy ref gives another fingerprint [S1-36]', () => {
    const other = (policy_refs: readonly PolicyRef[]) =>
      fingerprintPackage(createPackage({ ...base, policies: { policy_refs } }));
    assert.equal(other(policies), fingerprint);
    const seen = new Set([
      fingerprint,
      other(policies.slice(1)),
      other([...policies, { kind: 'approval', id: 'policy.named' }]),
      other([{ ...named, id: 'policy.other' }, ...policies.slice(1)]),
      other([{ ...named, version: '1' }, ...policies.slice(1)]),
    ]);
    assert.equal(seen.size, 5);
  });

  test('facts of a run do not matter [S1-36]', () => {
    const word = fc.string();
    const volatileFields = fc.record(
      {
        run_id: word,
        event_id: word,
        timestamp_ms: fc.integer(),
        adapter_health: word,
        temporary_path: word,
      },
      { requiredKeys: [] },
    );
    fc.assert(
      fc.property(volatileFields, (volatile) => {
        assert.equal(fingerprintPackage(createPackage({ ...base, volatile })), fingerprint);
      }),
    );
  });

  test('a hook counts through its sidecar [S1-36]', () => {
    const without = createPackage({ ...base, hooks: [] });
    assert.equal(fingerprintPackage(without), fingerprint);
    const other: HookSpec = { ...hook, executor_ref: 'executor.other' };
    const replaced = createPackage({ ...base, hooks: [other], sidecars: [...sidecars, hookSidecar(other)] });
    assert.notEqual(fingerprintPackage(replaced), fingerprint);
  });

  test('an invalid package has none [S1-36]', () => {
    assert.throws(() => fingerprintPackage(createPackage({ ...base, package_id: '' })), { code: 'E_VALIDATION_FAIL' });
  });
});

describe('canonicalPackage', () => {
  test('sorts by code unit and leaves hooks and run facts out [S1-36]', () => {
    const canonical = canonicalPackage(base);
    assert.deepEqual(
      canonical.sidecars.map((item) => item.sidecar_id),
      ['sidecar.Z', 'sidecar.a', 'sidecar.b', 'sidecar.hook.hook.a'],
    );
    assert.deepEqual(canonical.policies.policy_refs, [policies[0], policies[2], policies[1]]);
    assert.ok(!('hooks' in canonical) && !('volatile' in canonical));
  });

  test('the manifest lists exactly what is hashed [S1-36]', () => {
    const { fingerprint_manifest, ...hashed } = canonicalPackage(base);
    assert.deepEqual(fingerprint_manifest.included_groups, Object.keys(hashed).sort());
    assert.deepEqual(fingerprint_manifest.reserved_features, []);
    const [first] = base.capabilities;
    const reserved = createPackage({ ...base, capabilities: [{ ...first!, kind: 'mcp_tool' }] });
    assert.deepEqual(reserved.fingerprint_manifest.reserved_features, ['mcp_tool']);
  });
});

function fingerprintOrNone(pkg: RuntimePackage): string | undefined {
  try {
    return fingerprintPackage(createPackage(pkg));
  } catch {
    return undefined;
  }
}

/** Written down once: a change here means stored journals no longer match, and needs a new algorithm name. */
const PINNED = 'sha256:runtime-package-canonical-v1:6192ffbdb677c5a6702dffe3ef7157483a83d42db1956520258cf1add5ce4411';
