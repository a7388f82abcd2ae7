/** The streams of a fleet, and the check that the servers keep what they acknowledge. */
import { readFileSync } from 'node:fs';
import path from 'node:path';
import { DiscardPolicy, JetStreamApiError, RetentionPolicy, StorageType, type StreamConfig } from '@nats-io/jetstream';
import { errors, type NatsConnection, nanos } from '@nats-io/transport-node';
import { ToolError } from '@tool-runtime/protocol';
import { z } from 'zod';
import type { FleetFile } from './fleet-file.ts';
import { STREAMS } from './names.ts';
import { connectTo, type Wire } from './open-wire.ts';
import { sleep } from './sleep.ts';

const LOWEST = [2, 15, 0] as const;
const HOUR_MS = 3_600_000;
/** A budget is one of a day. */
const BUDGET_HOURS = 72;
const NAME_IN_USE = 10_058;
const DUPLICATE_WINDOW_MS = 120_000;
const READY_MS = 30_000;
/** Refusals that waiting does not change: a wrong request, or no right to make it. */
const FINAL: ReadonlySet<number> = new Set([403, 404]);

/** Makes what is missing. Streams that are there must have the replicas of the file. */
export async function ensureStreams(wire: Wire, file: FleetFile): Promise<void> {
  for (const config of configs(file)) {
    const { config: found } = await whenReady(() => ensureStream(wire, config)).catch((thrown: unknown) => {
      throw cannotMake(config.name, thrown);
    });
    if (found.num_replicas !== file.replicas) throw wrongReplicas(config.name, found.num_replicas, file.replicas);
  }
}

/** Servers that have just started answer late, or that they are too few. */
export async function whenReady<T>(ask: () => Promise<T>): Promise<T> {
  const until = AbortSignal.timeout(READY_MS);
  for (;;) {
    try {
      return await ask();
    } catch (thrown) {
      const isFinal = isForbidden(thrown) || (thrown instanceof JetStreamApiError && FINAL.has(thrown.status));
      if (isFinal || until.aborted) throw thrown;
    }
    await sleep(200, until);
  }
}

/** The servers do not let the user publish there. */
export function isForbidden(thrown: unknown): boolean {
  for (let error = thrown; error instanceof Error; error = error.cause) {
    if (error instanceof errors.PermissionViolationError) return true;
  }
  return false;
}

async function ensureStream(wire: Wire, config: Partial<StreamConfig> & { name: string }) {
  try {
    return await wire.jsm.streams.info(config.name);
  } catch (thrown) {
    if (!(thrown instanceof JetStreamApiError) || thrown.status !== 404) throw thrown;
  }
  try {
    return await wire.jsm.streams.add(config);
  } catch (thrown) {
    // Another host made it meanwhile.
    if (thrown instanceof JetStreamApiError && thrown.code === NAME_IN_USE) return wire.jsm.streams.info(config.name);
    throw thrown;
  }
}

function configs({ replicas, keep_hours }: FleetFile): readonly (Partial<StreamConfig> & { name: string })[] {
  const kept = {
    storage: StorageType.File,
    retention: RetentionPolicy.Limits,
    num_replicas: replicas,
    discard: DiscardPolicy.New,
    deny_delete: true,
    deny_purge: true,
    allow_direct: false,
    duplicate_window: nanos(DUPLICATE_WINDOW_MS),
  };
  const fleeting = {
    storage: StorageType.File,
    num_replicas: replicas,
    max_msgs_per_subject: 1,
    allow_msg_ttl: true,
    subject_delete_marker_ttl: nanos(HOUR_MS),
    allow_direct: false,
    duplicate_window: nanos(DUPLICATE_WINDOW_MS),
    deny_delete: false,
    allow_rollup_hdrs: true,
  };
  return [
    { name: STREAMS.journal, subjects: ['j.>'], max_age: nanos(keep_hours * HOUR_MS), ...kept },
    { name: STREAMS.records, subjects: ['r.>'], ...kept },
    { name: STREAMS.leases, subjects: ['$KV.LEASES.>'], ...fleeting },
    { name: STREAMS.hosts, subjects: ['$KV.HOSTS.>'], ...fleeting },
    { name: STREAMS.budgets, subjects: ['$KV.BUDGETS.>'], max_age: nanos(BUDGET_HOURS * HOUR_MS), ...fleeting },
    { name: STREAMS.handles, subjects: ['$KV.HANDLES.>'], ...fleeting },
  ];
}

export interface ServerFacts {
  readonly name: string;
  readonly version: string;
  readonly address: string;
  readonly pid: number | undefined;
  readonly syncAlways: boolean;
  readonly syncInterval: number | undefined;
  readonly jetstream: boolean;
}

const varzSchema = z.object({
  server: z.object({ name: z.string(), ver: z.string() }),
  data: z.object({
    host: z.string().optional(),
    port: z.number().optional(),
    jetstream: z
      .object({
        config: z
          .object({
            sync_always: z.boolean().optional(),
            sync_interval: z.number().optional(),
            store_dir: z.string().optional(),
          })
          .optional(),
      })
      .optional(),
  }),
});

/** What the servers say of themselves. Needs a user of the system account. */
export async function readServers(file: FleetFile): Promise<readonly ServerFacts[]> {
  if (file.system === undefined) throw noSystemUser();
  const nc = await connectTo(file, file.system, 'tool-runtime-status');
  try {
    return await askServers(nc);
  } finally {
    await nc.close();
  }
}

async function askServers(nc: NatsConnection): Promise<readonly ServerFacts[]> {
  const answers = await nc.requestMany('$SYS.REQ.SERVER.PING.VARZ', '', {
    strategy: 'stall',
    maxWait: 3000,
    stall: 500,
  });
  const found: ServerFacts[] = [];
  for await (const answer of answers) {
    const parsed = varzSchema.safeParse(answer.json());
    if (!parsed.success) continue;
    const { server, data } = parsed.data;
    found.push({
      name: server.name,
      version: server.ver,
      address: `${data.host ?? ''}:${data.port ?? ''}`,
      pid: pidOf(data.jetstream?.config?.store_dir),
      syncAlways: data.jetstream?.config?.sync_always === true,
      syncInterval: data.jetstream?.config?.sync_interval,
      jetstream: data.jetstream?.config !== undefined,
    });
  }
  return found.toSorted((one, other) => one.name.localeCompare(other.name));
}

/** A server on this machine writes its pid beside its store: `pid_file: STORE.pid`. */
function pidOf(storeDir: string | undefined): number | undefined {
  if (storeDir === undefined) return undefined;
  try {
    return Number(readFileSync(`${path.dirname(storeDir)}.pid`, 'utf8')) || undefined;
  } catch {
    // It runs on another machine.
    return undefined;
  }
}

/** Throws for servers that may lose what they acknowledged, with the line to change. */
export async function refuseUnsafe(wire: Wire, file: FleetFile): Promise<void> {
  judgeVersion(wire.nc.info?.server_name ?? 'server', wire.nc.info?.version ?? '0');
  for (const server of await readServers(file)) {
    judgeVersion(server.name, server.version);
    if (server.jetstream && !server.syncAlways) throw unsafeSync(server);
  }
}

export function judgeVersion(name: string, version: string): void {
  const [major = 0, minor = 0, patch = 0] = version.split(/[.-]/).map(Number);
  const have = [major, minor, patch];
  const at = LOWEST.findIndex((part, index) => part !== have[index]);
  if (at === -1 || (have[at] ?? 0) > (LOWEST[at] ?? 0)) return;
  throw unsafe(`Server ${name} is version ${version}; a fleet needs ${LOWEST.join('.')} or newer`, {
    next: 'upgrade nats-server; older ones lose acknowledged records or lack timed messages',
  });
}

function unsafeSync({ name }: ServerFacts): ToolError {
  return unsafe(`Server ${name} acknowledges records before they are on its disk`, {
    next: 'write this line into its jetstream block and restart it: sync_interval: always',
  });
}

function wrongReplicas(stream: string, have: number, want: number): ToolError {
  return unsafe(`Stream ${stream} has ${have} replicas, and the fleet file asks for ${want}`, {
    next: `change it with: nats stream edit ${stream} --replicas ${want}, or write replicas: ${have} into the fleet file`,
  });
}

function noSystemUser(): ToolError {
  return unsafe('The fleet file names no user of the system account, so the servers cannot be checked', {
    next: 'add system: { user, password } to the fleet file; it needs $SYS.REQ.SERVER.PING.VARZ and no more',
  });
}

function cannotMake(stream: string, cause: unknown): ToolError {
  return unsafe(`Stream ${stream} cannot be made: ${cause instanceof Error ? cause.message : 'refused'}`, {
    next: 'check that as many servers run as there are replicas, and the permissions of this user',
    cause,
  });
}

function unsafe(message: string, { next, cause }: { readonly next: string; readonly cause?: unknown }): ToolError {
  return new ToolError('E_POLICY', message, { details: { gate: 'fleet', reason: 'unsafe_fleet', next }, cause });
}
