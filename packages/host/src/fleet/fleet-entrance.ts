/**
 * A host as part of a fleet: clients reach it through tunnels, which are served like any other socket.
 *
 * The servers of the fleet have proven who the caller is, and which workspace it may reach: the principal is bound to both.
 */
import { type Scope, ToolError } from '@tool-runtime/protocol';
import type { BudgetPort, RuntimeOptions } from '@tool-runtime/sdk';
import { createExposure } from '../auth/exposure.ts';
import { fleetOwner, type Principal } from '../auth/principal.ts';
import type { TokenBook } from '../auth/tokens.ts';
import type { App } from '../http/create-app.ts';
import { createGatekeeper, type Gatekeeper } from '../http/gatekeeper.ts';
import type { McpEndpoint } from '../http/route.ts';
import { createChildWork } from '../sessions/child-work.ts';
import type { Host } from '../sessions/create-host.ts';
import type { Workspaces } from '../sessions/workspaces.ts';
import { createHttpServer } from '../transports/http-server.ts';
import { openFleetDesks } from './fleet-approvals.ts';
import type { FleetCaller, HostFleet } from './host-fleet.ts';

/** What a runtime gets from the fleet. A budget of the embedding program is asked too. */
export function fleetParts(
  fleet: HostFleet,
  workspace: string,
  own: BudgetPort | undefined,
): Pick<RuntimeOptions, 'ledger' | 'budget' | 'artifacts'> {
  const shared = fleet.budgetOf?.(workspace);
  const budget = own === undefined || shared === undefined ? (shared ?? own) : both(own, shared);
  return {
    ledger: fleet.ledgerOf(workspace),
    ...(budget === undefined ? {} : { budget }),
    ...(fleet.artifactsOf === undefined
      ? {}
      : { artifacts: (local) => fleet.artifactsOf?.(workspace, local) ?? local }),
  };
}

function both(one: BudgetPort, other: BudgetPort): BudgetPort {
  return {
    async reserve(request) {
      await one.reserve(request);
      await other.reserve(request);
    },
    spend(request, used) {
      one.spend(request, used);
      other.spend(request, used);
    },
  };
}

interface Entrance {
  readonly host: Host;
  readonly fleet: HostFleet;
  readonly tokens: TokenBook;
  createApp(gatekeeper: Gatekeeper): App;
}

export async function openFleetEntrance({ host, fleet, tokens, createApp }: Entrance): Promise<void> {
  const desks = openFleetDesks(host.approvals, fleet);
  if (desks !== undefined) host.otherDesks = desks;
  if (fleet.state !== undefined) host.fleetState = fleet.state;
  host.childWork = createChildWork({ fleet, tokens, childOf: host.children.find });
  const exposure = createExposure({ addresses: [], isUnix: true });
  const callers = new WeakMap<object, Principal>();
  const gatekeeper = createGatekeeper({
    tokens,
    exposure: () => exposure,
    peerOf: (socket) => callers.get(socket),
    attempts: host.attempts,
    sourceOf: (socket) => callers.get(socket)?.id ?? 'fleet:unknown',
  });
  const server = createHttpServer({ host, gatekeeper, app: createApp(gatekeeper) });
  for (const workspace of host.workspaces.all) fleet.ship(workspace.name, () => workspace.runtime);
  await fleet.serve((socket, caller) => {
    callers.set(socket, principalOf(caller));
    server.emit('connection', socket);
  });
}

function principalOf({ user, workspace, mayApprove = false, via }: FleetCaller): Principal {
  const scopes = new Set<Scope>(mayApprove ? ['read', 'call', 'approve'] : ['read', 'call']);
  const id = fleetOwner(user, workspace, via);
  return { id, name: user, scopes, workspace, ...(via === undefined ? {} : { via }) };
}

/**
 * `/mcp` of any host reaches any workspace: `?workspace=NAME` names it, and a request for one that another host holds goes
 * there. The token is checked here; the other host learns the name behind it and nothing more.
 */
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
      const here = (own: Request) => mcp.fetch(own, bound(principal, workspace));
      if (fleet.holds?.(workspace) === true) return here(request);
      // A session belongs to who opened it, and that is another name for who comes through the fleet: never through it to here.
      const kept = request.clone();
      return (await fleet.forward(request, { workspace, name: principal.name })) ?? here(kept);
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
