import assert from 'node:assert/strict';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { test } from 'node:test';
import { openStateFolder } from '../platform/state-folder.ts';
import { openTrustList } from './trust-list.ts';

const DIGEST = 'a'.repeat(64);

test('the trust list remembers digests across openings, forgets revoked ones, and trusts nothing when damaged', () => {
  const scratch = mkdtempSync(join(tmpdir(), 'tool-runtime-trust-'));
  const state = openStateFolder(join(scratch, 'state'));
  assert.equal(openTrustList(state).has(DIGEST), false);
  openTrustList(state).add(DIGEST);
  assert.equal(openTrustList(state).has(DIGEST), true);
  assert.equal(openTrustList(state).remove(DIGEST), true);
  assert.equal(openTrustList(state).remove(DIGEST), false);
  openTrustList(state).add(DIGEST);
  writeFileSync(join(state.path, 'trusted-registries.json'), `{"${DIGEST}": true`);
  assert.equal(openTrustList(state).has(DIGEST), false);
  rmSync(scratch, { recursive: true });
});
