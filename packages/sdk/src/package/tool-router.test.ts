import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { isToolError, type ToolError } from '@tool-runtime/protocol';
import { compilePackage } from './compile-package.ts';
import { buildSnapshot } from './registry-snapshot.ts';
import {
  createRouter,
  lowerProviderCall,
  type ProviderToolCall,
  parseRoute,
  serializeRoute,
  type ToolCallRequest,
  type ToolRoute,
  validateRoute,
} from './tool-router.ts';

const source = { kind: 'user', id: 'user.1', trust: 'user_provided', privacy: 'internal' } as const;
const call: ProviderToolCall = {
  tool_call_id: 'call.1',
  canonical_tool_name: 'file_read',
  requested_args_refs: [{ id: 'content.1', digest: 'sha256:aa' }],
  redacted_args_summary: 'path: 9 characters',
};

test('lowering copies four fields, sets the source and leaves both keys unset [S1-19 S1-20]', () => {
  assert.deepEqual(lowerProviderCall(call, source), { ...call, source });
});

test('whatever else the adapter attached stays behind [S1-22]', () => {
  const chatty = {
    ...call,
    arguments: { path: 'secret.txt' },
    idempotency_key: 'k',
    dedupe_key: 'd',
    source: 'forged',
  };
  assert.deepEqual(lowerProviderCall(chatty as ProviderToolCall, source), { ...call, source });
});

test('leaves its input alone [S1-20]', () => {
  const before = structuredClone(call);
  lowerProviderCall(call, source);
  assert.deepEqual(call, before);
});

test('refuses ids that are empty, unprintable or too long [S1-44]', () => {
  for (const bad of [{ tool_call_id: '' }, { tool_call_id: 'a\u0000' }, { canonical_tool_name: 'n'.repeat(513) }]) {
    assert.throws(() => lowerProviderCall({ ...call, ...bad }, source), { code: 'E_VALIDATION_FAIL' });
  }
});

const route: ToolRoute = {
  capability_id: 'tool.file_read',
  canonical_tool_name: 'file_read',
  namespace: 'tool-runtime',
  source: { kind: 'sdk', id: 'tool-runtime', trust: 'sdk_generated', privacy: 'internal' },
  destination: { kind: 'tool', id: 'file_read' },
  executor_ref: 'executor.tool.file_read',
  policy_refs: [{ kind: 'permission', id: 'policy.registry' }],
  sidecar_refs: [{ sidecar_id: 'sidecar.a', kind: 'facts', version: 'v1' }],
  effect_class: 'read',
  risk_class: 'low',
  privacy: 'internal',
  retention: 'run_scoped',
};
const { executor_ref: _executor, ...withoutExecutor } = route;

describe('validateRoute', () => {
  test('accepts a whole route and leaves it alone [S1-14]', () => {
    const before = structuredClone(route);
    validateRoute(route);
    assert.deepEqual(route, before);
  });

  test('names the missing field [S1-14]', () => {
    const refuses = (bad: ToolRoute, field: string) =>
      assert.throws(() => validateRoute(bad), {
        code: 'E_VALIDATION_FAIL',
        path: field,
        details: { kind: 'invalid_package', retry: 'host_configuration_needed', field },
      });
    refuses(withoutExecutor, 'tool_route.executor_ref');
    refuses({ ...route, executor_ref: '' }, 'tool_route.executor_ref');
    refuses({ ...route, policy_refs: [] }, 'tool_route.policy_refs');
    refuses({ ...withoutExecutor, policy_refs: [] }, 'tool_route.executor_ref');
  });

  test('refuses ids that are not printable [S1-44]', () => {
    assert.throws(() => validateRoute({ ...route, canonical_tool_name: 'file\u001bread' }), {
      message: /tool_route\.canonical_tool_name$/,
    });
  });
});

describe('serializeRoute and parseRoute', () => {
  test('go there and back with every field [S1-12 S1-13]', () => {
    const json = JSON.parse(JSON.stringify(serializeRoute(route)));
    assert.deepEqual(Object.keys(json).sort(), Object.keys(route).sort());
    assert.deepEqual(parseRoute(json), route);
  });

  test('leave out what is empty and tolerate its absence [S1-13]', () => {
    const bare: ToolRoute = { ...withoutExecutor, policy_refs: [], sidecar_refs: [] };
    const json = serializeRoute(bare);
    for (const key of ['executor_ref', 'policy_refs', 'sidecar_refs']) assert.ok(!(key in json), key);
    assert.deepEqual(parseRoute(json), bare);
  });

  test('read PascalCase words as snake_case [S1-12]', () => {
    const json = {
      ...serializeRoute(route),
      effect_class: 'ApprovalDispatch',
      risk_class: 'Critical',
      retention: 'RunScoped',
    };
    const read = parseRoute(json);
    assert.deepEqual(
      [read.effect_class, read.risk_class, read.retention],
      ['approval_dispatch', 'critical', 'run_scoped'],
    );
  });

  test('refuse unknown words and unknown members [S1-12]', () => {
    for (const change of [
      { effect_class: 'magic' },
      { risk_class: 'LOW' },
      { description: 'new' },
      { namespace: '' },
    ]) {
      assert.throws(() => parseRoute({ ...serializeRoute(route), ...change }), { code: 'E_VALIDATION_FAIL' });
    }
  });
});

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

  test('resolves to the request and a frozen route [S1-16 S1-18]', () => {
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
