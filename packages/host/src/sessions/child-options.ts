/** What a client asks for a child, as the runtime takes it. */
import type { OpenChildBody } from '@tool-runtime/protocol';
import type { ChildOptions } from '@tool-runtime/sdk';

/** Without its heartbeat limit: who serves the child watches over that. */
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
