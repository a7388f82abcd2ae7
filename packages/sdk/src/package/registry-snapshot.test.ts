import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import fc from 'fast-check';
import { compilePackage } from './compile-package.ts';
import { fingerprintPackage } from './fingerprint.ts';
import { buildSnapshot, parseSnapshot } from './registry-snapshot.ts';
import { createPackage } from './runtime-package.ts';
import type { ToolRoute } from './tool-router.ts';

const names = ['grep', 'file_read', 'Zip', 'file_write', 'é', 'fs_list'];
const { package: pkg, routes } = compilePackage({
  packageId: 'package.test',
  agentId: 'agent.test',
  registryFingerprint: 'sha256:cc',
  tools: names.map((name) => ({ name, effect: 'read', risk: 'low', schemaDigest: `sha256:${name}` })),
});
const route = routes[0] as ToolRoute;
const violation = (message: RegExp) => ({ code: 'E_VALIDATION_FAIL', message });

describe('buildSnapshot', () => {
  test('carries the fingerprint of its package and survives JSON [S1-1 S1-9]', () => {
    const snapshot = buildSnapshot(pkg, routes);
    assert.equal(snapshot.runtime_package_fingerprint, fingerprintPackage(pkg));
    const json = JSON.parse(JSON.stringify(snapshot));
    assert.deepEqual(Object.keys(json), ['runtime_package_fingerprint', 'routes']);
    assert.ok(!('sidecar_refs' in json.routes[0]));
    assert.deepEqual(parseSnapshot(json), snapshot);
    assert.equal(parseSnapshot(json).findByName('grep')?.capability_id, 'tool.grep');
  });

  test('sorts by code unit whatever the order of its input [S1-8]', () => {
    const expected = ['Zip', 'file_read', 'file_write', 'fs_list', 'grep', 'é'];
    fc.assert(
      fc.property(fc.shuffledSubarray([...routes], { minLength: routes.length }), (shuffledRoutes) => {
        const snapshot = buildSnapshot(pkg, shuffledRoutes);
        assert.deepEqual(
          snapshot.routes.map((item) => item.canonical_tool_name),
          expected,
        );
      }),
    );
  });

  test('finds by the exact name or not at all [S1-10]', () => {
    const snapshot = buildSnapshot(pkg, routes);
    for (const name of names) assert.equal(snapshot.findByName(name)?.canonical_tool_name, name);
    for (const name of ['Grep', 'grep ', 'gre', '', 'constructor', '__proto__', 'e\u0301']) {
      assert.equal(snapshot.findByName(name), undefined);
    }
  });

  test('a capability without a route is not callable and no error [S1-11]', () => {
    const snapshot = buildSnapshot(pkg, [route]);
    assert.deepEqual([snapshot.routes.length, snapshot.findByName('file_read')], [1, undefined]);
    assert.equal(buildSnapshot(pkg, []).routes.length, 0);
  });

  test('refuses an invalid package before it looks at routes [S1-2]', () => {
    const invalid = createPackage({ ...pkg, package_id: '' });
    assert.throws(() => buildSnapshot(invalid, [{ ...route, policy_refs: [] }]), violation(/package_id$/));
  });

  test('validates each route before any other check [S1-3]', () => {
    assert.throws(() => buildSnapshot(pkg, [route, { ...route, policy_refs: [] }]), violation(/policy_refs$/));
  });

  test('refuses two routes of one name [S1-4]', () => {
    assert.throws(() => buildSnapshot(pkg, [route, route]), {
      ...violation(/grep$/),
      details: { kind: 'invalid_state_transition', retry: 'repair_needed', tool: 'grep' },
    });
  });

  test('refuses a route whose capability cannot be executed [S1-5]', () => {
    const { executor_ref: _executor, ...idle } = pkg.capabilities[0]!;
    const withIdle = createPackage({ ...pkg, capabilities: [{ ...idle, visibility: 'hidden' }] });
    for (const [subject, bad] of [
      [withIdle, route],
      [pkg, { ...route, capability_id: 'tool.none' }],
    ] as const) {
      assert.throws(() => buildSnapshot(subject, [bad]), {
        code: 'E_VALIDATION_FAIL',
        details: {
          kind: 'invalid_package',
          retry: 'host_configuration_needed',
          tool: 'grep',
          field: 'tool_route.capability_id',
        },
      });
    }
  });

  test('refuses an executor the package does not name [S1-6]', () => {
    assert.throws(
      () => buildSnapshot(pkg, [{ ...route, executor_ref: 'executor.other' }]),
      violation(/executors: grep$/),
    );
  });

  test('refuses a route that leaves out the policy of the package [S1-7]', () => {
    const [registry] = route.policy_refs;
    const extra = { kind: 'sandbox', id: 'policy.more' } as const;
    buildSnapshot(pkg, [{ ...route, policy_refs: [extra, registry!] }]);
    for (const policy_refs of [[extra], [{ ...registry!, version: 'other' }]]) {
      assert.throws(() => buildSnapshot(pkg, [{ ...route, policy_refs }]), violation(/policy of its package: grep$/));
    }
  });

  test('is frozen to the leaves and shares nothing with its input [S1-18]', () => {
    const mutable = structuredClone(route) as { risk_class: string } & ToolRoute;
    const snapshot = buildSnapshot(pkg, [mutable]);
    mutable.risk_class = 'critical';
    const found = snapshot.findByName('grep');
    assert.equal(found?.risk_class, 'low');
    assert.throws(() => Object.assign(found!, { risk_class: 'low' }), TypeError);
    assert.throws(() => Object.assign(found!.policy_refs[0]!, { id: 'x' }), TypeError);
    assert.throws(() => (snapshot.routes as ToolRoute[]).push(route), TypeError);
    assert.throws(() => Object.assign(snapshot, { runtime_package_fingerprint: 'x' }), TypeError);
  });
});

describe('parseSnapshot', () => {
  test('refuses a bad fingerprint, an invalid route, a repeated name [S1-1]', () => {
    const json = JSON.parse(JSON.stringify(buildSnapshot(pkg, [route])));
    parseSnapshot(json);
    const { policy_refs: _policies, ...unruled } = json.routes[0];
    for (const change of [
      { runtime_package_fingerprint: 'sha256:aa' },
      { routes: [unruled] },
      { routes: [...json.routes, ...json.routes] },
      { extra: 1 },
    ]) {
      assert.throws(() => parseSnapshot({ ...json, ...change }), { code: 'E_VALIDATION_FAIL' });
    }
  });

  test('sorts what was stored in another order [S1-8]', () => {
    const snapshot = buildSnapshot(pkg, routes);
    const json = JSON.parse(JSON.stringify(snapshot));
    assert.deepEqual(parseSnapshot({ ...json, routes: json.routes.toReversed() }), snapshot);
  });
});
