import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { parseRoute, serializeRoute, type ToolRoute, validateRoute } from './tool-route.ts';

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
