import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { defaultRegistry } from './build-registry.ts';
import { loadRegistry } from './load-registry.ts';

describe('defaultRegistry', () => {
  test('allows files and local git, and no shell, network or push [S0-18 S0-19 S0-20]', () => {
    const registry = defaultRegistry();
    assert.deepEqual(registry.ceiling, { side_effect_level: 'workspace_write' });
    assert.deepEqual(registry.git, {
      allow_push: false,
      allow_force_push: false,
      require_clean_tree_for_commit: false,
      signing: 'off',
      hooks: 'off',
      signoff: false,
      allow_config: [],
      credentials: {},
    });
    assert.deepEqual([registry.shellAllow, registry.allowedDomains, registry.externalTools], [[], [], []]);
    assert.equal(registry.isolation, 'bubblewrap');
    assert.deepEqual(registry.limits, {
      max_in_flight: 32,
      lock_wait_ms: 10_000,
      max_request_bytes: 8 * 1024 * 1024,
      approval_timeout_ms: 120_000,
      max_jobs: 16,
      max_workspace_jobs: 64,
      max_answer_tokens: 25_000,
      max_kept_jobs: 0,
    });
  });

  test('means what the shortest file means, and stands nowhere', () => {
    const written = loadRegistry('version: 1\n', { file: 'f', rules: new Map(), tools: undefined, engines: new Set() });
    assert.equal(defaultRegistry().fingerprint, written.fingerprint);
    assert.equal(defaultRegistry().spot('version'), undefined);
    assert.deepEqual(written.spot('version'), { file: 'f', line: 1, column: 1 });
  });
});
