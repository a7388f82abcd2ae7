import { test } from 'node:test';
import { assertAccepts, assertRefuses, assertStrict, SAMPLES } from '../../../test/sample-messages.ts';
import { childOpenSchema } from './child-open.ts';

test('ChildOpen needs a parent and an agent, and takes nothing it does not know [S3-45]', () =>
  assertStrict(childOpenSchema, SAMPLES.ChildOpen));

test('ChildOpen takes what a child may be given, and nothing that only looks like it [S3-21 S3-10]', () => {
  const policy_ref = { kind: 'context', id: 'policy.handoff' };
  const fields: Readonly<Record<string, readonly [readonly unknown[], readonly unknown[]]>> = {
    tools: [
      [['grep'], [], { type: 'no_tools' }, { type: 'custom_allowlist', capability_ids: ['tool.grep'] }],
      ['grep', [''], {}, { type: 'all' }, { type: 'no_tools', names: ['x'] }, { type: 'custom_allowlist' }],
    ],
    handoff: [
      [{ type: 'none' }, { type: 'selected_refs', refs: [{ id: 'artifact:1' }], policy_ref }],
      [{}, 'none', { type: 'selected_refs', refs: [{ id: 'artifact:1' }] }, { type: 'none', policy_ref }],
    ],
    route: [
      [{ type: 'inherit_parent' }, { type: 'use_allowed_override', route_id: 'r', model_id: 'm' }],
      [{ type: 'use_allowed_override', route_id: '', model_id: 'm' }],
    ],
    budget: [
      [{}, { max_calls: 0 }],
      [{ max_calls: -1 }, { max_calls: 1.5 }, { calls: 1 }],
    ],
    depth: [[{ max_depth: 0, max_children: 3 }], [{ max_depth: -1 }, { current_depth: 0 }]],
    folder: [['src'], ['', 1, 'x'.repeat(5000)]],
    lifecycle: [['parent_owned', 'reclaimable'], ['detached']],
    heartbeat_timeout_ms: [[1000], [0, 999]],
    capabilities: [[{ side_effect_level: 'read_only' }], [{ side_effect_level: 'root' }, { workspace: '/' }]],
  };
  for (const [field, [good, bad]] of Object.entries(fields)) {
    assertAccepts(childOpenSchema, SAMPLES.ChildOpen, field, good);
    assertRefuses(childOpenSchema, SAMPLES.ChildOpen, field, bad);
  }
});
