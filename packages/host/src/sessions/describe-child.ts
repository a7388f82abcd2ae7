/** What clients are told about a child. */
import type { ChildAck } from '@tool-runtime/protocol';
import type { ChildSession } from '@tool-runtime/sdk';

export type ChildFacts = Pick<
  ChildAck,
  'parent_session_id' | 'agent_id' | 'package_fingerprint' | 'manifest' | 'handoff' | 'depth'
>;

export function describeChild({ parentId, agentId, fingerprint, manifest, handoff, depth }: ChildSession): ChildFacts {
  return {
    parent_session_id: parentId,
    agent_id: agentId,
    package_fingerprint: fingerprint,
    manifest,
    handoff,
    depth,
  };
}

/** Not `tools()`: that builds every schema, which a thousand sessions would wait for. */
export function toolNames({ snapshot }: Pick<ChildSession, 'snapshot'>): string[] {
  return snapshot.routes.map((route) => route.canonical_tool_name);
}

export function childAck(
  requestId: string,
  child: ChildSession,
  more: Pick<ChildAck, 'token' | 'heartbeat_timeout_ms'> = {},
): ChildAck {
  return {
    type: 'ChildAck',
    request_id: requestId,
    session_id: child.id,
    tools: toolNames(child),
    side_effect_level: child.ceiling.side_effect_level ?? 'network',
    ...describeChild(child),
    ...more,
  };
}
