import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { CallProfile } from '../contracts/tool.ts';
import { narrowProfile } from './narrow-profile.ts';

const worst: CallProfile = { kind: 'edit', side_effect_level: 'workspace_write', effect: 'write', risk: 'medium' };

test('S2-18 a call may be lower than its tool declares, and never higher', () => {
  assert.deepEqual(narrowProfile(worst, { side_effect_level: 'read_only', kind: 'read' }), {
    ...worst,
    side_effect_level: 'read_only',
    kind: 'read',
  });
  assert.deepEqual(narrowProfile(worst, { side_effect_level: 'workspace_write' }), worst);
  for (const side_effect_level of ['process_exec', 'network'] as const) {
    assert.throws(() => narrowProfile(worst, { side_effect_level }), {
      code: 'E_VALIDATION_FAIL',
    });
  }
});
