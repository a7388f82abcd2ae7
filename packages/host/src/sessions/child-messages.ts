/** Children of a session between the wire and the runtime: what a client asks for, and what it learns. */
import type { ChildAck, OpenChildBody } from '@tool-runtime/protocol';
import type { ChildOptions, ChildSession } from '@tool-runtime/sdk';

type ChildFacts = Pick<
  ChildAck,
  'parent_session_id' | 'agent_id' | 'package_fingerprint' | 'manifest' | 'handoff' | 'depth'
>;

/** Without its heartbeat limit, which the host enforces. */
export function toChildOptions(body: OpenChildBody): ChildOptions {
  const { agent_id, allowed_routes, registry, depth, heartbeat_timeout_ms: _, ...same } = body;
  return {
    ...same,
    agentId: agent_id,
    ...(allowed_routes === undefined ? {} : { allowedRoutes: allowed_routes }),
    ...(registry === undefined ? {} : { registry: { text: registry, file: 'child registry' } }),
    ...(depth === undefined ? {} : { depth: toDepth(depth) }),
  };
}

function toDepth({ max_depth, max_children }: NonNullable<OpenChildBody['depth']>): NonNullable<ChildOptions['depth']> {
  return {
    ...(max_depth === undefined ? {} : { maxDepth: max_depth }),
    ...(max_children === undefined ? {} : { maxChildren: max_children }),
  };
}

/** What clients learn about a child. */
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
