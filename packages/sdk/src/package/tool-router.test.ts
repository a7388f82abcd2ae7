import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { isToolError, type ToolError } from '@tool-runtime/protocol';
import { compilePackage } from './compile-package.ts';
import { buildSnapshot } from './registry-snapshot.ts';
import type { ToolCallRequest } from './tool-call.ts';
import { createRouter } from './tool-router.ts';

const { package: pkg, routes } = compilePackage({
  packageId: 'package.test',
  agentId: 'agent.test',
  registryFingerprint: 'sha256:cc',
  tools: ['file_read', 'file_write', 'grep'].map((name) => ({
    name,
    effect: 'read',
    risk: 'low',
    schemaDigest: `sha256:${name}`,
  })),
});
const snapshot = buildSnapshot(pkg, routes);
const router = createRouter(snapshot);

const requestFor = (canonical_tool_name: string): ToolCallRequest => ({
  tool_call_id: 'call.1',
  canonical_tool_name,
  source: { kind: 'user', id: 'user', trust: 'user_provided', privacy: 'internal' },
  requested_args_refs: [],
  redacted_args_summary: '',
});

function denial(name: string): ToolError {
  try {
    router.resolve(requestFor(name));
  } catch (thrown) {
    assert.ok(isToolError(thrown));
    assert.equal(thrown.code, 'E_POLICY');
    assert.equal(thrown.details['kind'], 'policy_denial');
    assert.equal(thrown.details['retry'], 'host_configuration_needed');
    return thrown;
  }
  assert.fail('the name was resolved');
}

describe('createRouter', () => {
  test('exposes its snapshot and cannot be given another [S1-15]', () => {
    assert.equal(router.snapshot, snapshot);
    assert.throws(() => Object.assign(router, { snapshot: undefined }), TypeError);
  });

  test('resolves to the request and a route nobody can change [S1-16 S1-18]', () => {
    const request = requestFor('grep');
    const resolved = router.resolve(request);
    assert.deepEqual(resolved, { request, route: snapshot.findByName('grep') });
    assert.ok(Object.isFrozen(resolved.route) && Object.isFrozen(resolved.route.source));
    assert.deepEqual(request, requestFor('grep'));
  });

  test('denies an unknown name, close ones too [S1-17 S1-45]', () => {
    assert.equal(denial('file_raed').details['nearest'], 'file_read');
    assert.match(String(denial('File_Read').details['next']), /file_read/);
    assert.equal(denial('file_read ').details['nearest'], 'file_read');
    router.resolve(requestFor('file_read'));
  });

  test('suggests nothing when nothing is close [S1-17]', () => {
    for (const name of ['', 'x', 'shell_exec', '__proto__', 'a'.repeat(10_000)]) {
      assert.equal(denial(name).details['nearest'], undefined);
    }
  });

  test('shows a hostile name short and on one line [S1-22]', () => {
    const { message } = denial(`x\n\u001b[31m\u2028${'y'.repeat(5_000)}`);
    assert.ok(message.length < 120);
    assert.doesNotMatch(message, /[\n\u001b\u2028]/);
  });
});
