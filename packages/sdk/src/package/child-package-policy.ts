/** What a host lets a child package take over from its parent, and which bounds it gets instead. */
import type { CapabilityId } from '../contracts/identifiers.ts';
import type { PolicyRef } from '../contracts/refs.ts';
import type { RouteBounds } from './child-route.ts';
import { frozenCopy } from './frozen-copy.ts';

/** Capabilities by which an agent steers its children or talks to its own parent; a child gets none of them. */
export const PARENT_CONTROL_TOOLS: readonly CapabilityId[] = Object.freeze([
  'tool.subagent_send_message',
  'tool.subagent_reply_to_clarification',
  'tool.subagent_ask_parent',
  'tool.subagent_read_parent_messages',
  'tool.subagent_monitor',
]);

export interface ChildPackagePolicy extends RouteBounds {
  /** Fingerprint of the one parent package this policy was made for. */
  readonly source_parent_package: string;
  /** Must be true; a policy that says otherwise builds no child. */
  readonly strip_recursive_subagents: boolean;
  /** False: the tool policy is recorded but strips nothing. */
  readonly strip_disallowed_tools: boolean;
  readonly child_lifecycle_bounds: PolicyRef;
  readonly redaction_policy_ref: PolicyRef;
  readonly parent_control_tool_ids: readonly CapabilityId[];
}

export function childPackageDefaults(sourceParentFingerprint: string): ChildPackagePolicy {
  return frozenCopy<ChildPackagePolicy>({
    source_parent_package: sourceParentFingerprint,
    inherit_provider_route: 'inherit_parent',
    allowed_route_overrides: [],
    strip_recursive_subagents: true,
    strip_disallowed_tools: true,
    child_lifecycle_bounds: { kind: 'runtime_package', id: 'policy.child.parent_owned' },
    redaction_policy_ref: { kind: 'redaction', id: 'policy.redaction.subagent.default' },
    parent_control_tool_ids: PARENT_CONTROL_TOOLS,
  });
}
