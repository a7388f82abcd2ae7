/** What operators see: servers, hosts, workspaces and open calls. */
import { errors } from '@nats-io/transport-node';
import { ToolError } from '@tool-runtime/protocol';
import type { CallMessage } from '../ledger/fleet-ledger.ts';
import { stateOf } from '../ledger/host-lease.ts';
import { holderOf } from '../ledger/workspace-lease.ts';
import type { FleetFile } from '../wire/fleet-file.ts';
import { STREAMS, token, untoken } from '../wire/names.ts';
import { openWire, type Wire } from '../wire/open-wire.ts';
import { isMissing, readStream } from '../wire/read-stream.ts';
import { sleep } from '../wire/sleep.ts';
import { isForbidden, readServers, type ServerFacts } from '../wire/streams.ts';

export interface StreamStatus {
  readonly name: string;
  readonly leader: string | undefined;
  readonly replicas: number;
  /** Replicas that are behind or gone, by the name of their server. */
  readonly behind: readonly string[];
  /** Undefined while it has no leader that could tell. */
  readonly messages: number | undefined;
  readonly bytes: number | undefined;
}

export interface HostStatus {
  readonly host: string;
  readonly zone: string;
  readonly boot: string;
  readonly pid: number;
  readonly version: string;
  readonly workspaces: readonly string[];
  readonly held: readonly string[];
  readonly journals: readonly { readonly workspace: string; readonly head: number; readonly shipped: number }[];
  readonly at_ms: number;
}

export interface WorkspaceStatus {
  readonly workspace: string;
  readonly host: string;
  readonly zone: string;
  readonly epoch: number;
}

export interface OpenCallStatus {
  readonly call_id: string;
  readonly workspace: string;
  readonly host: string;
  readonly tool: string;
  readonly key: string;
  readonly retry_safe: boolean;
  readonly since_ms: number;
  /** Too many hosts were lost with it; it is not begun again. */
  readonly parked: boolean;
}

export interface FleetStatus {
  readonly servers: readonly ServerFacts[];
  readonly streams: readonly StreamStatus[];
  readonly hosts: readonly HostStatus[];
  readonly workspaces: readonly WorkspaceStatus[];
  /** Streams that could not be read now, as while they have no leader: nothing is known of what they hold. */
  readonly unread: readonly string[];
}

export async function withWire<T>(file: FleetFile, use: (wire: Wire) => Promise<T>): Promise<T> {
  const wire = await openWire(file, 'tool-runtime-operator');
  try {
    return await use(wire);
  } catch (thrown) {
    throw readable(thrown, file.credentials.user);
  } finally {
    await wire.close();
  }
}

/** What the servers throw is about a request; an operator can act on these. */
function readable(thrown: unknown, user: string): unknown {
  if (isForbidden(thrown)) {
    return new ToolError('E_POLICY', `User may not ask this of the servers: ${user}`, {
      details: { reason: 'not_allowed', next: 'use the fleet file of an operator' },
      cause: thrown,
    });
  }
  if (!(thrown instanceof errors.TimeoutError || thrown instanceof errors.RequestError)) return thrown;
  return new ToolError('E_TIMEOUT', 'The servers of the fleet do not answer this now', {
    details: {
      reason: 'fleet_unreachable',
      retry: 'retryable',
      next: 'try again: an election takes up to 10 s; tool-runtime fleet status says what is missing',
    },
    cause: thrown,
  });
}

/** Answers also while servers are missing, which is when it is asked for. */
export async function fleetStatus(wire: Wire, file: FleetFile): Promise<FleetStatus> {
  const [servers, streams, hosts, workspaces] = await Promise.all([
    file.system === undefined ? [] : readServers(file),
    listStreams(wire),
    soon(listHosts(wire)),
    soon(listWorkspaces(wire)),
  ]);
  const unread = [
    ...(hosts === undefined ? [STREAMS.hosts] : []),
    ...(workspaces === undefined ? [STREAMS.leases] : []),
  ];
  return { servers, streams, hosts: hosts ?? [], workspaces: workspaces ?? [], unread };
}

/** The same for open calls: undefined when they cannot be read now. */
export function openCallsNow(wire: Wire): Promise<readonly OpenCallStatus[] | undefined> {
  return soon(listOpenCalls(wire));
}

const SOON_MS = 5000;

/** Undefined where the servers do not answer soon. */
export async function soon<T>(reading: Promise<T>): Promise<T | undefined> {
  const over = new AbortController();
  const late = sleep(SOON_MS, over.signal).then(() => undefined);
  try {
    return await Promise.race([reading, late]);
  } catch (thrown) {
    if (isForbidden(thrown)) throw thrown;
    return undefined;
  } finally {
    over.abort();
    reading.catch(() => undefined);
  }
}

export async function listStreams(wire: Wire): Promise<readonly StreamStatus[]> {
  const found = await Promise.all(Object.values(STREAMS).map((name) => streamStatus(wire, name)));
  return found.filter((status) => status !== undefined);
}

async function streamStatus({ jsm, replicas }: Wire, name: string): Promise<StreamStatus | undefined> {
  try {
    const { config, cluster, state } = await jsm.streams.info(name);
    return {
      name,
      leader: cluster?.leader,
      replicas: config.num_replicas,
      behind: (cluster?.replicas ?? [])
        .filter(({ current, offline }) => !current || offline === true)
        .map(({ name }) => name),
      messages: state.messages,
      bytes: state.bytes,
    };
  } catch (thrown) {
    if (isMissing(thrown)) return undefined;
    if (isForbidden(thrown)) throw thrown;
    // Only its leader answers.
    return { name, leader: undefined, replicas, behind: [], messages: undefined, bytes: undefined };
  }
}

export async function listHosts(wire: Wire): Promise<readonly HostStatus[]> {
  const hosts: HostStatus[] = [];
  for await (const message of readQuietly(wire, STREAMS.hosts)) {
    if (message.data.length > 0) hosts.push(message.json<HostStatus>());
  }
  return hosts.toSorted((one, other) => one.host.localeCompare(other.host));
}

/** Undefined while the servers do not answer, as at their start. */
export async function holderNow(wire: Wire, workspace: string): Promise<WorkspaceStatus | undefined> {
  try {
    return (await listWorkspaces(wire)).find((lease) => lease.workspace === workspace);
  } catch {
    return undefined;
  }
}

export async function listWorkspaces(wire: Wire): Promise<readonly WorkspaceStatus[]> {
  const held: (WorkspaceStatus & { readonly lease: string })[] = [];
  const open = new Set<string>();
  for await (const message of readQuietly(wire, STREAMS.leases)) {
    const [kind, id = ''] = message.subject.split('.').slice(-2);
    if (kind === 'host' && stateOf(message) === 'open') open.add(id);
    const holder = kind === 'ws' ? holderOf(message) : undefined;
    if (holder === undefined) continue;
    const { host, zone, lease, token: epoch } = holder;
    held.push({ workspace: untoken(id), host, zone, epoch, lease: token(lease) });
  }
  return held
    .filter(({ lease }) => open.has(lease))
    .map(({ lease: _, ...status }) => status)
    .toSorted((one, other) => one.workspace.localeCompare(other.workspace));
}

/** Calls that were begun and have no outcome, oldest first. */
export async function listOpenCalls(wire: Wire): Promise<readonly OpenCallStatus[]> {
  const open: OpenCallStatus[] = [];
  for await (const message of readQuietly(wire, STREAMS.journal)) {
    const { state, call_id, host, tool, key, retry_safe, at_ms } = message.json<CallMessage>();
    const isParked = state === 'parked';
    const workspace = untoken(message.subject.split('.')[2] ?? '');
    if (state === 'intent' || isParked)
      open.push({ call_id, workspace, host, tool, key, retry_safe, since_ms: at_ms, parked: isParked });
  }
  return open;
}

async function* readQuietly(wire: Wire, stream: string) {
  try {
    yield* readStream(wire, stream, { lastOnly: true });
  } catch (thrown) {
    if (!isMissing(thrown)) throw thrown;
  }
}

const DRAIN_MS = 10_000;

export function drainSubject(tenant: string, host: string): string {
  return `ctl.${token(tenant)}.${token(host)}.drain`;
}

/** The host gives its workspaces to others and takes none until it is started again, or until `take` is true. */
export async function drainHost({ nc, tenant }: Wire, host: string, take: boolean): Promise<void> {
  try {
    await nc.request(drainSubject(tenant, host), JSON.stringify({ take }), { timeout: DRAIN_MS });
  } catch (cause) {
    throw new ToolError('E_TIMEOUT', `Host does not answer: ${host}`, {
      details: { reason: 'host_lost', next: 'tool-runtime fleet hosts lists those that are there' },
      cause,
    });
  }
}
