/**
 * A host as part of a fleet: clients reach it through tunnels, which are served like any other socket.
 *
 * The servers of the fleet have proven who the caller is, and which workspace it may reach: the principal is bound to both.
 */
import type { Scope } from '@tool-runtime/protocol';
import { createExposure } from '../auth/exposure.ts';
import type { Principal } from '../auth/principal.ts';
import type { TokenBook } from '../auth/tokens.ts';
import type { App } from '../http/create-app.ts';
import { createGatekeeper, type Gatekeeper } from '../http/gatekeeper.ts';
import type { Host } from '../sessions/create-host.ts';
import { createHttpServer } from '../transports/http-server.ts';
import type { FleetCaller, HostFleet } from './host-fleet.ts';

interface Entrance {
  readonly host: Host;
  readonly fleet: HostFleet;
  readonly tokens: TokenBook;
  createApp(gatekeeper: Gatekeeper): App;
}

export async function openFleetEntrance({ host, fleet, tokens, createApp }: Entrance): Promise<void> {
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

function principalOf({ user, workspace, mayApprove = false }: FleetCaller): Principal {
  const scopes = new Set<Scope>(mayApprove ? ['read', 'call', 'approve'] : ['read', 'call']);
  return { id: `fleet:${JSON.stringify([workspace, user])}`, name: user, scopes, workspace };
}
