import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import type { CompiledToolFacts } from '../package/compile-package.ts';
import { createPackageMemo, type PackageOrder } from './compile-tools.ts';

const READ: CompiledToolFacts = {
  name: 'file_read',
  effect: 'read',
  risk: 'low',
  schemaDigest: `sha256:${'1'.repeat(64)}`,
};
const WRITE: CompiledToolFacts = { ...READ, name: 'file_write', effect: 'write', risk: 'medium' };

function order(changes: Partial<PackageOrder> = {}): PackageOrder {
  return { agentId: 'agent', registryFingerprint: `sha256:${'2'.repeat(64)}`, tools: [READ, WRITE], ...changes };
}

describe('packages of sessions', () => {
  test('sessions that may do the same share one package, which cannot be changed', () => {
    const packageOf = createPackageMemo();
    const first = packageOf(order());
    assert.equal(packageOf(order({ tools: [READ, WRITE] })), first);
    assert.equal(first.snapshot.routes.length, 2);
    for (const part of [first.package, first.package.capabilities, first.snapshot, first.snapshot.routes[0]]) {
      assert.ok(Object.isFrozen(part));
    }
  });

  test('another actor, registry, tool or version of a tool makes another one', () => {
    const packageOf = createPackageMemo();
    const fingerprint = (changes: Partial<PackageOrder>): string =>
      packageOf(order(changes)).snapshot.runtime_package_fingerprint;
    const all = [
      fingerprint({}),
      fingerprint({ agentId: 'other' }),
      fingerprint({ registryFingerprint: `sha256:${'3'.repeat(64)}` }),
      fingerprint({ tools: [READ] }),
      fingerprint({ tools: [READ, { ...WRITE, risk: 'high' }] }),
    ];
    assert.equal(new Set(all).size, all.length);
    assert.equal(fingerprint({}), all[0]);
  });

  test('a host with ever new actors keeps a few', () => {
    const packageOf = createPackageMemo();
    const first = packageOf(order());
    for (let n = 0; n < 15; n++) packageOf(order({ agentId: `agent-${n}` }));
    assert.equal(packageOf(order()), first, 'used again, so it stays');
    for (let n = 0; n < 16; n++) packageOf(order({ agentId: `agent-${n}` }));
    assert.notEqual(packageOf(order()), first);
  });
});
