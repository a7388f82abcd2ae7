import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { CallView } from '../contracts/policy.ts';
import { allowAllPolicy, allowedOutcome } from './allow-all-policy.ts';

const view: CallView = {
  callId: 'call-1',
  sessionId: 'session-1',
  tool: 'file_read',
  args: { path: 'a' },
  argsSummary: 'path=a',
  profile: { kind: 'read', side_effect_level: 'read_only', effect: 'read', risk: 'low' },
  mutationClass: 'read_only',
  paths: ['a'],
  actor: 'tester',
  policyRefs: [{ kind: 'permission', id: 'policy.tools' }],
  source: { kind: 'user', id: 'user-1', trust: 'user_provided', privacy: 'internal' },
  destination: { kind: 'tool', id: 'file_read' },
};

test('allows before and after the tool with the refs of the call [S1-34]', async () => {
  const expected = {
    decision: { type: 'allow', reason: { code: 'tool.policy.allowed' } },
    source: view.source,
    destination: view.destination,
    policy_refs: view.policyRefs,
    privacy: 'internal',
    retention: 'run_scoped',
  };
  const policy = allowAllPolicy();
  assert.deepEqual(await policy.evaluatePreTool(view), { stage: 'pre_tool', ...expected });
  assert.deepEqual(await policy.evaluatePostTool(view, {}), { stage: 'post_tool', ...expected });
});

test('builds the same outcome for any stage [S1-35]', () => {
  assert.deepEqual(allowedOutcome('output', view), { ...allowedOutcome('pre_tool', view), stage: 'output' });
});
