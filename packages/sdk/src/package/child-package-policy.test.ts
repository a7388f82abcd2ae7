import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { childPackageDefaults, PARENT_CONTROL_TOOLS } from './child-package-policy.ts';

describe('childPackageDefaults', () => {
  test('fills every field with the value that hands over least [S3-16 S3-17]', () => {
    assert.deepEqual(childPackageDefaults('sha256:parent'), {
      source_parent_package: 'sha256:parent',
      inherit_provider_route: 'inherit_parent',
      allowed_route_overrides: [],
      strip_recursive_subagents: true,
      strip_disallowed_tools: true,
      child_lifecycle_bounds: { kind: 'runtime_package', id: 'policy.child.parent_owned' },
      redaction_policy_ref: { kind: 'redaction', id: 'policy.redaction.subagent.default' },
      parent_control_tool_ids: PARENT_CONTROL_TOOLS,
    });
  });

  test('knows the five tools by which agents steer agents [S3-18]', () => {
    assert.deepEqual(PARENT_CONTROL_TOOLS, [
      'tool.subagent_send_message',
      'tool.subagent_reply_to_clarification',
      'tool.subagent_ask_parent',
      'tool.subagent_read_parent_messages',
      'tool.subagent_monitor',
    ]);
  });

  test('cannot be loosened for later callers [S3-17]', () => {
    const policy = childPackageDefaults('sha256:parent');
    assert.throws(() => (policy.parent_control_tool_ids as string[]).pop(), TypeError);
    assert.throws(() => (PARENT_CONTROL_TOOLS as string[]).pop(), TypeError);
    assert.throws(() => Object.assign(policy, { strip_disallowed_tools: false }), TypeError);
    assert.throws(() => Object.assign(policy.redaction_policy_ref, { id: 'x' }), TypeError);
  });
});
