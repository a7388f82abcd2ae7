/**
 * From the servers of a fleet to a client that is ready: the same client as `connectToHost` gives, whichever host holds the
 * workspace.
 *
 * When that host dies, the client opens a session on the next one and sends what has no answer again, under the same ids.
 * That is safe here and only here: the ledger of the fleet knows every mutating call by its key or by the random id of its
 * request, so a call that happened is answered from the record, and one whose outcome cannot be told is refused as
 * `outcome_unknown`.
 */
import { isToolError, type OpenChildBody, type OpenSessionBody, type SessionUsage } from '@tool-runtime/protocol';
import {
  type ConnectToHostOptions,
  connectToHost,
  createHostClient,
  type HostChildSession,
  type HostClient,
  type HostSession,
  type LooseTools,
  type ToolMap,
} from '@tool-runtime/protocol/client';
import { createDialer, type Dialer } from './bus/dial.ts';
import { FLEET_URL, tunnelFetch, tunnelWebSocket } from './bus/tunnel-fetch.ts';
import { checkFleet, type FleetOptions } from './wire/fleet-file.ts';
import { openWire } from './wire/open-wire.ts';
import { sleep } from './wire/sleep.ts';

export interface ConnectToFleetOptions
  extends Pick<FleetOptions, 'servers' | 'credentials' | 'tls' | 'tenant'>,
    Pick<ConnectToHostOptions, 'client' | 'reconnect' | 'transport'> {
  /** Name of the workspace to work in. */
  readonly workspace: string;
  readonly session?: Omit<NonNullable<ConnectToHostOptions['session']>, 'workspace'>;
  /** Waits so long for a host to hold the workspace. Left out: `no_host` at once. */
  readonly waitMs?: number;
  /** How long a lost host may take to be replaced. */
  readonly failoverMs?: number;
}

const FAILOVER_MS = 60_000;
const PAUSE_MS = 100;

export async function connectToFleet<Tools extends ToolMap<Tools> = LooseTools>(
  options: ConnectToFleetOptions,
): Promise<HostSession<Tools>> {
  const { servers, credentials, tls, tenant, workspace, session, waitMs = 0, failoverMs = FAILOVER_MS } = options;
  const wire = await openWire(
    checkFleet({
      servers,
      credentials,
      ...(tls === undefined ? {} : { tls }),
      ...(tenant === undefined ? {} : { tenant }),
    }),
    'tool-runtime-client',
  );
  const fleet = { dialer: createDialer(wire), options, waitMs, failoverMs };
  const leave = async (): Promise<void> => {
    fleet.dialer.close();
    await wire.close();
  };
  try {
    const connected = await connectIn<Tools>(fleet, { workspace, session: { ...session }, reopen: true });
    return inFleet<Tools, HostSession<Tools>>(connected, fleet, workspace, leave);
  } catch (thrown) {
    await leave();
    throw thrown;
  }
}

/** What the connections of one client have in common. */
interface Fleet {
  readonly dialer: Dialer;
  readonly options: Pick<ConnectToFleetOptions, 'client' | 'reconnect' | 'transport'>;
  readonly waitMs: number;
  readonly failoverMs: number;
}

interface Place {
  readonly workspace: string;
  readonly session: OpenSessionBody;
  readonly reopen: boolean;
}

async function connectIn<Tools extends ToolMap<Tools>>(
  { dialer, options, waitMs, failoverMs }: Fleet,
  { workspace, session, reopen }: Place,
): Promise<HostSession<Tools>> {
  const patience = { ms: waitMs };
  try {
    const connected = await connectToHost<Tools>({
      url: FLEET_URL,
      fetch: patientFetch(dialer, workspace, patience),
      WebSocket: tunnelWebSocket(() => dialer.open(workspace)),
      session,
      reopen,
      ...(options.transport === undefined ? {} : { transport: options.transport }),
      ...(options.client === undefined ? {} : { client: options.client }),
      reconnect: { minDelayMs: 20, maxDelayMs: 1000, attempts: 120, ...options.reconnect, repeatSent: true },
    });
    patience.ms = failoverMs;
    return connected;
  } catch (thrown) {
    throw isToolError(thrown) && isToolError(thrown.cause) && isBusReason(thrown.cause) ? thrown.cause : thrown;
  }
}

/** The client says that no answer came; why it did not come is what its caller can act on. */
function isBusReason({ details }: { readonly details: { readonly reason?: unknown } }): boolean {
  return details.reason === 'no_host' || details.reason === 'host_lost';
}

function patientFetch(dialer: Dialer, workspace: string, patience: { readonly ms: number }) {
  const direct = tunnelFetch(async () => dialer.open(workspace));
  return async (...given: Parameters<typeof direct>): ReturnType<typeof direct> => {
    const until = performance.now() + patience.ms;
    for (;;) {
      try {
        return await direct(...given);
      } catch (thrown) {
        const isAbsent = isToolError(thrown) && thrown.details['reason'] === 'no_host';
        if (!isAbsent || performance.now() > until || given[1].signal?.aborted === true) throw thrown;
      }
      await sleep(PAUSE_MS, given[1].signal);
    }
  };
}

/** The same session, whose children may work in other workspaces. `leave`: after it is closed. */
function inFleet<Tools extends ToolMap<Tools>, Session extends HostSession<Tools>>(
  connected: Session,
  fleet: Fleet,
  workspace: string,
  leave?: () => Promise<void>,
): Session {
  return {
    ...connected,
    get session() {
      return connected.session;
    },
    async openChild<ChildTools extends ToolMap<ChildTools>>(
      body: OpenChildBody,
    ): Promise<HostChildSession<ChildTools>> {
      if (body.workspace !== undefined) return childElsewhere<ChildTools>(connected, fleet, { workspace, body });
      return inFleet<ChildTools, HostChildSession<ChildTools>>(await connected.openChild(body), fleet, workspace);
    },
    async close() {
      await connected.close();
      await leave?.();
    },
  };
}

/**
 * The parent's host cuts the package and holds the share of the budget; the session in which the child works is opened with
 * the child's token on the host of the other workspace, which this client must be let through to.
 */
async function childElsewhere<Tools extends ToolMap<Tools>>(
  { session: parent }: Pick<HostSession, 'session'>,
  fleet: Fleet,
  { workspace, body }: { readonly workspace: string; readonly body: OpenChildBody },
): Promise<HostChildSession<Tools>> {
  const { workspace: other = workspace, heartbeat_timeout_ms: heartbeat } = body;
  const at = (place: string, token: string): HostClient =>
    createHostClient({ url: FLEET_URL, token, fetch: patientFetch(fleet.dialer, place, { ms: 0 }) });
  const parentHost = at(workspace, parent.token);
  const stand = await parentHost.openChild(parent.session_id, body);
  const { session_id, token, parent_session_id, agent_id, package_fingerprint, manifest, handoff, depth } = stand;
  try {
    const connected = await connectIn<Tools>(fleet, {
      workspace: other,
      session: {
        under: { workspace, session_id, token },
        ...(heartbeat === undefined ? {} : { heartbeat_timeout_ms: heartbeat }),
      },
      reopen: false,
    });
    const opened = connected.session;
    const end = async (mode: 'wait' | 'cancel'): Promise<SessionUsage> => {
      const usage = await at(other, opened.token).endChild(opened.session_id, { mode });
      await connected.close();
      return usage;
    };
    const child: HostChildSession<Tools> = {
      ...connected,
      session: { ...opened, parent_session_id, agent_id, package_fingerprint, manifest, handoff, depth },
      complete: () => end('wait'),
      cancel: () => end('cancel'),
      detach: (how) => parentHost.detachChild(session_id, how),
    };
    return inFleet<Tools, HostChildSession<Tools>>(child, fleet, other);
  } catch (thrown) {
    // No session works under it.
    await parentHost.endChild(session_id, { mode: 'cancel' }).catch(() => undefined);
    throw thrown;
  }
}
