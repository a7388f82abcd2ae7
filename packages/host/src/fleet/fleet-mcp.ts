/**
 * `/mcp` of any host reaches any workspace: `?workspace=NAME` names it, and a request for one that another host holds goes
 * there. The token is checked here; the other host learns the name behind it and nothing more.
 */
import { ToolError } from '@tool-runtime/protocol';
import type { Principal } from '../auth/principal.ts';
import type { McpEndpoint } from '../http/route.ts';
import type { Workspaces } from '../sessions/workspaces.ts';
import type { HostFleet } from './host-fleet.ts';

export function routeMcp(mcp: McpEndpoint, workspaces: Workspaces, fleet: HostFleet | undefined): McpEndpoint {
  return {
    async fetch(request, principal) {
      const asked = new URL(request.url).searchParams.get('workspace') ?? undefined;
      if (asked !== undefined) refuseOther(principal, asked);
      // The token of a session stays with its session, which is here.
      if (principal.sessionId !== undefined) return mcp.fetch(request, principal);
      if (fleet?.forward === undefined)
        return mcp.fetch(request, asked === undefined ? principal : bound(principal, asked));
      const workspace = asked ?? principal.workspace ?? workspaces.find(undefined).name;
      if (fleet.holds?.(workspace) === true) return mcp.fetch(request, bound(principal, workspace));
      return fleet.forward(request, { workspace, name: principal.name });
    },
    close: () => mcp.close(),
  };
}

function bound(principal: Principal, workspace: string): Principal {
  return { ...principal, workspace };
}

function refuseOther({ workspace, sessionId }: Principal, asked: string): void {
  if (sessionId === undefined && (workspace === undefined || workspace === asked)) return;
  throw new ToolError('E_POLICY', 'This token does not reach that workspace', {
    details: { gate: 'auth', reason: 'workspace_not_allowed', next: 'leave workspace out, or use another token' },
  });
}
