import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { isToolError, type ToolError } from '@tool-runtime/protocol';
import {
  CAPABILITY_KINDS,
  type CapabilityKind,
  type CapabilitySpec,
  executableRoute,
  isProviderVisible,
  type Projection,
  validateCapability,
} from './capability.ts';

const tool: CapabilitySpec = {
  capability_id: 'tool.file_read',
  kind: 'tool',
  source: {
    kind: 'sdk_built_in',
    source_ref: { kind: 'sdk', id: 'tool-runtime', trust: 'sdk_generated', privacy: 'internal' },
  },
  namespace: 'tool-runtime',
  version: 'v1',
  visibility: 'active',
  projection: { type: 'provider_tool_schema', schema_ref: 'sha256:aa' },
  executor_ref: 'executor.tool.file_read',
  policy_ref: { kind: 'permission', id: 'policy.registry' },
  sidecar_refs: [],
  privacy: 'internal',
  readiness: { status: 'active' },
};

const { executor_ref: _executor, ...toolWithoutExecutor } = tool;

const reserved: CapabilitySpec = {
  ...toolWithoutExecutor,
  kind: 'mcp_tool',
  visibility: 'hidden',
  projection: { type: 'not_projected' },
  readiness: { status: 'reserved_inactive' },
};

function refusal(capability: CapabilitySpec): ToolError {
  try {
    validateCapability(capability);
  } catch (thrown) {
    assert.ok(isToolError(thrown));
    return thrown;
  }
  assert.fail('the capability was accepted');
}

describe('validateCapability', () => {
  test('accepts a visible tool and every idle reserved kind [S1-36]', () => {
    validateCapability(tool);
    for (const kind of CAPABILITY_KINDS) validateCapability({ ...reserved, kind, readiness: readinessOf(kind) });
  });

  test('refuses each way of putting a reserved kind to use [S1-36]', () => {
    for (const kind of CAPABILITY_KINDS.filter((name) => name !== 'tool')) {
      for (const use of [
        { visibility: 'active' },
        { projection: { type: 'descriptor_only' } },
        { executor_ref: 'executor.x' },
        { readiness: { status: 'active' } },
      ] as const) {
        assert.equal(refusal({ ...reserved, kind, ...use }).details['kind'], 'invalid_state_transition');
      }
    }
  });

  test('refuses a visible tool without executor, and takes it hidden [S1-36]', () => {
    assert.equal(refusal(toolWithoutExecutor).details['field'], 'capability.executor_ref');
    assert.equal(refusal(toolWithoutExecutor).details['kind'], 'invalid_package');
    validateCapability({ ...toolWithoutExecutor, visibility: 'hidden' });
  });

  test('refuses a host policy on a visible tool, and takes it on a hidden one [S1-36]', () => {
    const policy_ref = { kind: 'host', id: 'policy.host' } as const;
    assert.match(refusal({ ...tool, policy_ref }).message, /names no policy: capability\.policy_ref$/);
    validateCapability({ ...tool, policy_ref, visibility: 'hidden' });
  });

  test('refuses a missing policy ref [S1-36]', () => {
    const bare = { ...tool, policy_ref: undefined } as unknown as CapabilitySpec;
    assert.equal(refusal(bare).details['field'], 'capability.policy_ref');
  });

  test('refuses a visible tool that says it is not ready [S1-36]', () => {
    assert.match(refusal({ ...tool, readiness: { status: 'reserved_inactive' } }).message, /readiness\.status$/);
  });

  test('checks ids, keeps their values out of the error and names kind and retry class [S1-44 S1-45]', () => {
    const error = refusal({ ...tool, capability_id: 'tool.\u0007secret' });
    assert.equal(error.code, 'E_VALIDATION_FAIL');
    assert.equal(error.details['retry'], 'repair_needed');
    assert.ok(!JSON.stringify(error.toEntry()).includes('secret'));
    assert.equal(refusal({ ...tool, capability_id: '' }).details['retry'], 'host_configuration_needed');
    refusal({ ...tool, executor_ref: 'x'.repeat(513) });
    validateCapability({ ...tool, executor_ref: 'x'.repeat(512) });
  });

  test('refuses words outside the vocabularies and lists every problem at once [S1-36]', () => {
    const odd = { ...tool, privacy: 'open', visibility: 'loud', namespace: '' } as unknown as CapabilitySpec;
    assert.deepEqual(refusal(odd).details['problems'], [
      'Required field is missing: capability.namespace',
      'Value is not one of the known ones: capability.visibility',
      'Value is not one of the known ones: capability.privacy',
    ]);
  });
});

describe('isProviderVisible and executableRoute', () => {
  test('only an active and projected capability is visible [S1-36]', () => {
    const projections: Projection[] = [
      { type: 'descriptor_only' },
      { type: 'provider_tool_schema', schema_ref: 'sha256:aa' },
      { type: 'produces_context_items', allowed_kinds: ['note'] },
      { type: 'projects_context_refs', allowed_ref_kinds: ['file'] },
    ];
    for (const projection of projections) {
      assert.equal(isProviderVisible({ ...tool, projection }), true);
      assert.equal(isProviderVisible({ ...tool, projection, visibility: 'hidden' }), false);
    }
    assert.equal(isProviderVisible({ ...tool, projection: { type: 'not_projected' } }), false);
  });

  test('a route exists exactly when an executor is named [S1-36]', () => {
    assert.deepEqual(executableRoute(tool), {
      capability_id: 'tool.file_read',
      executor_ref: 'executor.tool.file_read',
      policy_ref: { kind: 'permission', id: 'policy.registry' },
    });
    assert.equal(executableRoute(toolWithoutExecutor), undefined);
  });
});

function readinessOf(kind: CapabilityKind): CapabilitySpec['readiness'] {
  return { status: kind === 'tool' ? 'active' : 'reserved_inactive' };
}
