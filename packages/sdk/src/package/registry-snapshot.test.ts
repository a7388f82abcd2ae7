import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import fc from 'fast-check';
import { compilePackage } from './compile-package.ts';
import { fingerprintPackage } from './fingerprint.ts';
import { buildSnapshot, parseSnapshot } from './registry-snapshot.ts';
import { createPackage } from './runtime-package.ts';
import type { ToolRoute } from './tool-route.ts';

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
  test('S1-1 S1-9 carries the fingerprint of its package and survives JSON', () => {
    const snapshot = buildSnapshot(pkg, routes);
    assert.equal(snapshot.runtime_package_fingerprint, fingerprintPackage(pkg));
    const json = JSON.parse(JSON.stringify(snapshot));
    assert.deepEqual(Object.keys(json), ['runtime_package_fingerprint', 'routes']);
    assert.ok(!('sidecar_refs' in json.routes[0]));
    assert.deepEqual(parseSnapshot(json), snapshot);
    assert.equal(parseSnapshot(json).findByName('grep')?.capability_id, 'tool.grep');
  });

  test('S1-8 sorts by code unit whatever the order of its input', () => {
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

  test('S1-10 finds by the exact name or not at all', () => {
    const snapshot = buildSnapshot(pkg, routes);
    for (const name of names) assert.equal(snapshot.findByName(name)?.canonical_tool_name, name);
    for (const name of ['Grep', 'grep ', 'gre', '', 'constructor', '__proto__', 'e\u0301']) {
      assert.equal(snapshot.findByName(name), undefined);
    }
  });

  test('S1-11 a capability without a route is not callable and no error', () => {
    const snapshot = buildSnapshot(pkg, [route]);
    assert.deepEqual([snapshot.routes.length, snapshot.findByName('file_read')], [1, undefined]);
    assert.equal(buildSnapshot(pkg, []).routes.length, 0);
  });

  test('S1-2 refuses an invalid package before it looks at routes', () => {
    const invalid = createPackage({ ...pkg, package_id: '' });
    assert.throws(() => buildSnapshot(invalid, [{ ...route, policy_refs: [] }]), violation(/package_id$/));
  });

  test('S1-3 validates each route before any other check', () => {
    assert.throws(() => buildSnapshot(pkg, [route, { ...route, policy_refs: [] }]), violation(/policy_refs$/));
  });

  test('S1-4 refuses two routes of one name', () => {
    assert.throws(() => buildSnapshot(pkg, [route, route]), {
      ...violation(/grep$/),
      details: { kind: 'invalid_state_transition', retry: 'repair_needed', tool: 'grep' },
    });
  });

  test('S1-5 refuses a route whose capability cannot be executed', () => {
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

  test('S1-6 refuses an executor the package does not name', () => {
    assert.throws(
      () => buildSnapshot(pkg, [{ ...route, executor_ref: 'executor.other' }]),
      violation(/executors: grep$/),
    );
  });

  test('S1-7 refuses a route that leaves out the policy of the package', () => {
    const [registry] = route.policy_refs;
    const extra = { kind: 'sandbox', id: 'policy.more' } as const;
    buildSnapshot(pkg, [{ ...route, policy_refs: [extra, registry!] }]);
    for (const policy_refs of [[extra], [{ ...registry!, version: 'other' }]]) {
      assert.throws(() => buildSnapshot(pkg, [{ ...route, policy_refs }]), violation(/policy of its package: grep$/));
    }
  });

  test('S1-18 is frozen to the leaves and shares nothing with its input', () => {
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
  test('S1-1 refuses a bad fingerprint, an invalid route, a repeated name', () => {
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

  test('S1-8 sorts what was stored in another order', () => {
    const snapshot = buildSnapshot(pkg, routes);
    const json = JSON.parse(JSON.stringify(snapshot));
    assert.deepEqual(parseSnapshot({ ...json, routes: json.routes.toReversed() }), snapshot);
  });
});
