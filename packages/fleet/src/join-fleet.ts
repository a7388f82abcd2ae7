/** One host as a member of a fleet: its leases, its ledgers, the tunnels to what it holds, and its entry in the list of hosts. */
import { randomUUID } from 'node:crypto';
import type { Duplex } from 'node:stream';
import { ToolError } from '@tool-runtime/protocol';
import type { EffectLedger } from '@tool-runtime/sdk';
import { type Answering, answerTunnels, type Caller } from './bus/answer.ts';
import { createFleetLedger } from './ledger/fleet-ledger.ts';
import { createPayloads } from './ledger/payloads.ts';
import { WorkspaceLease } from './ledger/workspace-lease.ts';
import { drainSubject } from './operate/overview.ts';
import { type JournalSource, type Shipping, shipJournal } from './records/ship-journal.ts';
import type { FleetFile } from './wire/fleet-file.ts';
import { hostSubject } from './wire/names.ts';
import { openWire, type Wire } from './wire/open-wire.ts';
import { sleep } from './wire/sleep.ts';
import { ensureStreams, refuseUnsafe } from './wire/streams.ts';

export interface JoinOptions {
  /** Names of the workspaces this host serves. */
  readonly workspaces: readonly string[];
  readonly version: string;
  log(event: string, fields: Readonly<Record<string, unknown>>): void;
}

export interface FleetMember {
  readonly host: string;
  readonly boot: string;
  ledgerOf(workspace: string): EffectLedger;
  /** Takes workspaces that have no holder from now on, and calls to them. Resolves after the first attempt. */
  serve(accept: (socket: Duplex, caller: Caller) => void): Promise<void>;
  /** Ships the journal of a workspace from its first unshipped record on. */
  ship(workspace: string, source: JournalSource): void;
  /** Gives all workspaces back and takes none any more; calls that run go on. */
  drain(): Promise<void>;
  /** Ships what is left, as far as the servers answer, and leaves. */
  close(): Promise<void>;
}

/** How long an entry in the list of hosts lasts, and how often it is written. */
const ENTRY_SECONDS = 15;
const REFRESH_MS = 5000;
const MAX_TUNNELS = 10_000;
const LAST_WORDS_MS = 3000;

interface Held {
  readonly workspace: string;
  readonly lease: WorkspaceLease;
  readonly ledger: EffectLedger;
  answering: Answering | undefined;
  shipping: Shipping | undefined;
}

/** Throws before anything is taken when the servers could lose what they acknowledge. */
export async function joinFleet(file: FleetFile, options: JoinOptions): Promise<FleetMember> {
  const { host, zone } = file;
  if (host === undefined) throw noHostId();
  const boot = randomUUID();
  const wire = await openSafeWire(file, host);
  const payloads = createPayloads(wire);
  let accept: ((socket: Duplex, caller: Caller) => void) | undefined;

  function listen(held: Held): void {
    const taken = accept;
    if (taken === undefined || held.lease.token === undefined) return;
    held.answering ??= answerTunnels(wire, held.workspace, {
      accept: taken,
      maxTunnels: MAX_TUNNELS,
      approvers: file.approvers,
    });
  }

  function createHeld(workspace: string): Held {
    const lease = new WorkspaceLease({
      wire,
      workspace,
      host: host as string,
      zone,
      boot,
      leaseMs: file.lease_ms,
      onHeld(token) {
        options.log('workspace_held', { workspace, epoch: token });
        listen(held);
        void entry.refresh();
      },
      onLost() {
        options.log('workspace_released', { workspace });
        held.answering?.stop();
        held.answering = undefined;
        void entry.refresh();
      },
    });
    const ledger = createFleetLedger({
      wire,
      workspace,
      host: host as string,
      boot,
      lease,
      payloads,
      now: Date.now,
    });
    const held: Held = { workspace, lease, ledger, answering: undefined, shipping: undefined };
    return held;
  }

  const all = new Map(options.workspaces.map((workspace) => [workspace, createHeld(workspace)]));
  const entry = keepEntry(wire, host, () => ({
    host,
    zone,
    boot,
    pid: process.pid,
    version: options.version,
    workspaces: [...all.keys()],
    held: [...all.values()].filter(({ lease }) => lease.token !== undefined).map(({ workspace }) => workspace),
    journals: [...all.values()].flatMap(({ shipping }) => (shipping === undefined ? [] : [shipping.state()])),
  }));
  await Promise.all([...all.values()].map(({ lease }) => lease.start()));
  const want = async (isWanted: boolean): Promise<void> => {
    await Promise.all([...all.values()].map(({ lease }) => lease.want(isWanted)));
  };
  wire.nc.subscribe(drainSubject(wire.tenant, host), {
    callback(error, message) {
      if (error !== null) return;
      const take = asksToTake(message.string());
      options.log('drain_asked', { take });
      void want(take).then(() => message.respond('{}'));
    },
  });

  return {
    host,
    boot,
    ledgerOf: (workspace) => held(workspace).ledger,
    async serve(take) {
      accept = take;
      for (const one of all.values()) listen(one);
      await entry.refresh();
    },
    ship(workspace, source) {
      const one = held(workspace);
      one.shipping ??= shipJournal(wire, { host, workspace, source, log: options.log });
    },
    drain: () => want(false),
    async close() {
      await Promise.all([...all.values()].map(({ lease }) => lease.close()));
      await Promise.all([...all.values()].map(({ shipping }) => shipping?.finish(AbortSignal.timeout(LAST_WORDS_MS))));
      await entry.close();
      await wire.close();
    },
  };

  function held(workspace: string): Held {
    const found = all.get(workspace);
    if (found === undefined) throw new TypeError(`Not a workspace of this host: ${workspace}`);
    return found;
  }
}

/** Anything but `{"take": true}` asks to drain. What throws in a callback of the bus ends the connection. */
function asksToTake(text: string): boolean {
  try {
    return (JSON.parse(text) as { readonly take?: unknown } | null)?.take === true;
  } catch {
    return false;
  }
}

async function openSafeWire(file: FleetFile, host: string): Promise<Wire> {
  const wire = await openWire(file, `tool-runtime-host-${host}`);
  try {
    await refuseUnsafe(wire, file);
    await ensureStreams(wire, file);
    return wire;
  } catch (thrown) {
    await wire.close();
    throw thrown;
  }
}

interface Entry {
  refresh(): Promise<void>;
  close(): Promise<void>;
}

/** The list of hosts is for people and for discovery; no decision about a call depends on it. */
function keepEntry(wire: Wire, host: string, describe: () => object): Entry {
  const stop = new AbortController();
  const refresh = async (): Promise<void> => {
    if (stop.signal.aborted) return;
    const text = JSON.stringify({ ...describe(), at_ms: Date.now() });
    await wire.js.publish(hostSubject(host), text, { ttl: `${ENTRY_SECONDS}s` }).catch(() => undefined);
  };
  const running = (async () => {
    while (!stop.signal.aborted) {
      await refresh();
      await sleep(REFRESH_MS, stop.signal);
    }
  })();
  return {
    refresh,
    async close() {
      stop.abort();
      await running;
      await wire.js.publish(hostSubject(host), '', { ttl: '1s' }).catch(() => undefined);
    },
  };
}

function noHostId(): ToolError {
  return new ToolError('E_VALIDATION_FAIL', 'The fleet file names no host', {
    path: 'host',
    details: { reason: 'invalid_fleet_file', next: 'add host: NAME, unique among the hosts of the fleet' },
  });
}
