import assert from 'node:assert/strict';
import { test } from 'node:test';
import { TOOL_KINDS } from '../contracts/annotations.ts';
import { TERMINAL_STATUSES } from '../contracts/classes.ts';
import { acpStatus, acpToolCallUpdate, permissionAnswer, permissionGranted } from './acp.ts';

const options = [
  { optionId: 'yes', kind: 'allow_once' },
  { optionId: 'always', kind: 'allow_always' },
  { optionId: 'no', kind: 'reject_once' },
  { optionId: 'never', kind: 'reject_always' },
  { optionId: 'odd', kind: 'something_new' },
  { optionId: 'twice', kind: 'allow_once' },
  { optionId: 'twice', kind: 'reject_once' },
];

test('reads a permission by the kind of the option, not by its being selected [S2-30]', () => {
  const selected = (optionId: string) => permissionAnswer(options, { outcome: 'selected', optionId });
  assert.deepEqual(['yes', 'always', 'no', 'never', 'odd', 'twice', 'absent'].map(selected), [
    'approved',
    'approved_for_session',
    'denied',
    'denied',
    'denied',
    'denied',
    'denied',
  ]);
  assert.equal(permissionGranted(options, { outcome: 'selected', optionId: 'no' }), false);
  assert.equal(permissionGranted(options, { outcome: 'selected', optionId: 'yes' }), true);
  assert.equal(permissionGranted(options, { outcome: 'cancelled' }), false);
});

test('forwards every kind unchanged [S2-30]', () => {
  for (const kind of TOOL_KINDS) {
    assert.deepEqual(acpToolCallUpdate({ callId: 'c', kind }, 'requested'), {
      toolCallId: 'c',
      kind,
      status: 'pending',
    });
  }
});

test('knows four statuses; every end but completion is a failure [S2-31]', () => {
  assert.equal(acpStatus('requested'), 'pending');
  assert.equal(acpStatus('executing'), 'in_progress');
  for (const status of TERMINAL_STATUSES) {
    assert.equal(acpStatus(status), status === 'completed' ? 'completed' : 'failed');
  }
});
