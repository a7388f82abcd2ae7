/**
 * From the servers of a fleet to a client that is ready: the same client as `connectToHost` gives, whichever host holds the
 * workspace.
 *
 * When that host dies, the client opens a session on the next one and sends what has no answer again, under the same ids.
 * That is safe here and only here: the ledger of the fleet knows every mutating call by its key or by the random id of its
 * request, so a call that happened is answered from the record, and one whose outcome cannot be told is refused as
 * `outcome_unknown`.
 */
import { isToolError } from '@tool-runtime/protocol';
import {
  type ConnectToHostOptions,
  connectToHost,
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
  const dialer = createDialer(wire);
  const patience = { ms: waitMs };
  try {
    const connected = await connectToHost<Tools>({
      url: FLEET_URL,
      fetch: patientFetch(dialer, workspace, patience),
      WebSocket: tunnelWebSocket(() => dialer.open(workspace)),
      session: { ...session },
      reopen: true,
      ...(options.transport === undefined ? {} : { transport: options.transport }),
      ...(options.client === undefined ? {} : { client: options.client }),
      reconnect: { minDelayMs: 20, maxDelayMs: 1000, attempts: 120, ...options.reconnect, repeatSent: true },
    });
    patience.ms = failoverMs;
    return endingWith(connected, async () => {
      dialer.close();
      await wire.close();
    });
  } catch (thrown) {
    dialer.close();
    await wire.close();
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

function endingWith<Tools extends ToolMap<Tools>>(
  connected: HostSession<Tools>,
  end: () => Promise<void>,
): HostSession<Tools> {
  return {
    get session() {
      return connected.session;
    },
    ready: () => connected.ready(),
    call: (tool, args, callOptions) => connected.call(tool, args, callOptions),
    batch: (calls, batchOptions) => connected.batch(calls, batchOptions),
    heartbeat: () => connected.heartbeat(),
    events: (eventsOptions) => connected.events(eventsOptions),
    openChild: (body) => connected.openChild(body),
    async close() {
      await connected.close();
      await end();
    },
  };
}
