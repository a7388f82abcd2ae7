/** One host as a member of a fleet: its leases, its ledgers, the tunnels to what it holds, and its entry in the list of hosts. */
import { randomUUID } from 'node:crypto';
import type { Duplex } from 'node:stream';
import { type FleetState, type JsonObject, ToolError } from '@tool-runtime/protocol';
import type { ArtifactStore, BudgetPort, EffectLedger, LocalArtifacts } from '@tool-runtime/sdk';
import type { Caller } from './bus/answer.ts';
import { type ApprovalsAsked, askApprovals, serveApprovals } from './bus/approvals.ts';
import { type ChildAsked, type ChildTie, takeChild } from './bus/child-tie.ts';
import { createDialer } from './bus/dial.ts';
import { createForwarder, type Vouched } from './bus/forward.ts';
import { HeldWorkspace } from './held-workspace.ts';
import { HostLease } from './ledger/host-lease.ts';
import { createPayloads } from './ledger/payloads.ts';
import { fleetState } from './operate/fleet-state.ts';
import { drainSubject } from './operate/overview.ts';
import type { JournalSource } from './records/ship-journal.ts';
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
  /** Undefined when the fleet file has no budget. */
  budgetOf(workspace: string): BudgetPort | undefined;
  artifactsOf(workspace: string, local: LocalArtifacts): ArtifactStore;
  /** Takes workspaces that have no holder from now on, and calls to them. Resolves after the first attempt. */
  serve(accept: (socket: Duplex, caller: Caller) => void): Promise<void>;
  /** Whether this host holds the workspace now. */
  holds(workspace: string): boolean;
  /**
   * Sends a request to the holder of a workspace, in the name of someone this host has let in. Undefined when this host
   * became the holder meanwhile.
   */
  forward(request: Request, to: Vouched): Promise<Response | undefined>;
  /** What operators see of the fleet, as far as this host can tell. */
  state(): Promise<FleetState>;
  /** Into the object store, by digest; resolves with the reference. */
  putPackage(text: string): Promise<string>;
  /** Takes a child of a session on the holder of another workspace, to work on this host. */
  takeChild(asked: ChildAsked): Promise<ChildTie>;
  /** Answers questions of other hosts about approvals. */
  serveApprovals(answer: ApprovalsAsked): void;
  /** Asks all other hosts; resolves with what they said. */
  askApprovals(question: JsonObject): Promise<readonly JsonObject[]>;
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

/** Throws before anything is taken when the servers could lose what they acknowledge. */
export async function joinFleet(file: FleetFile, options: JoinOptions): Promise<FleetMember> {
  const { host, zone } = file;
  if (host === undefined) throw noHostId();
  const boot = randomUUID();
  const wire = await openSafeWire(file, host);
  const payloads = createPayloads(wire);
  const { log } = options;
  const lease = new HostLease({ wire, host, leaseMs: file.lease_ms });
  const setting = { wire, file, host, boot, lease, payloads, log, onChange: () => void entry.refresh() };
  const all = new Map(options.workspaces.map((name) => [name, new HeldWorkspace(name, setting)]));
  const each = <T>(work: (one: HeldWorkspace) => T): Promise<Awaited<T>[]> => Promise.all([...all.values()].map(work));
  const entry = keepEntry(wire, host, () => ({
    host,
    zone,
    boot,
    pid: process.pid,
    version: options.version,
    workspaces: [...all.keys()],
    held: [...all.values()].filter(({ isHeld }) => isHeld).map(({ name }) => name),
    journals: [...all.values()].flatMap(({ shipped }) => (shipped === undefined ? [] : [shipped])),
  }));
  await lease.start();
  await each((one) => one.lease.start());
  const want = (isWanted: boolean) => each((one) => one.lease.want(isWanted));
  wire.nc.subscribe(drainSubject(wire.tenant, host), {
    callback(error, message) {
      if (error !== null) return;
      const take = asksToTake(message.string());
      log('drain_asked', { take });
      void want(take).then(() => message.respond('{}'));
    },
  });
  const holds = (workspace: string): boolean => all.get(workspace)?.isHeld === true;
  const dialer = createDialer(wire);
  const forwarder = createForwarder(dialer, holds);
  const find = (workspace: string): HeldWorkspace => {
    const found = all.get(workspace);
    if (found === undefined) throw new TypeError(`Not a workspace of this host: ${workspace}`);
    return found;
  };

  return {
    host,
    boot,
    ledgerOf: (workspace) => find(workspace).ledger,
    budgetOf: (workspace) => find(workspace).budget,
    artifactsOf: (workspace, local) => find(workspace).shareArtifacts(local),
    holds,
    forward: (request, to) => forwarder.forward(request, to),
    state: () => fleetState(wire, file),
    putPackage: (text) => payloads.put(Buffer.from(text)),
    takeChild: (asked) => takeChild({ dialer, getPackage: (reference) => payloads.get(reference) }, asked),
    serveApprovals: (answer) => serveApprovals(wire, file.approvers, answer),
    askApprovals: (question) => askApprovals(wire, question),
    async serve(take) {
      for (const one of all.values()) one.serve(take);
      await entry.refresh();
    },
    ship: (workspace, source) => find(workspace).ship(source),
    async drain() {
      await want(false);
    },
    async close() {
      dialer.close();
      await lease.close();
      await each((one) => one.close());
      await entry.close();
      await wire.close();
    },
  };
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
