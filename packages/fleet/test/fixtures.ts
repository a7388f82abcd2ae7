/** Real servers and real hosts for the tests of the fleet, on loopback. */
import { type ChildProcess, spawn } from 'node:child_process';
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { createInterface } from 'node:readline';
import type { TestContext } from 'node:test';
import { type ConnectToFleetOptions, connectToFleet } from '@tool-runtime/fleet';
import { type FleetMember, type JoinOptions, joinFleet } from '../src/join-fleet.ts';
import { type DevServers, startDevServers } from '../src/operate/dev-servers.ts';
import type { FleetUser } from '../src/operate/server-config.ts';
import { checkFleet, type FleetFile, type FleetOptions } from '../src/wire/fleet-file.ts';

const ROOT = path.join(import.meta.dirname, '../../..');

export const USERS: readonly FleetUser[] = [
  { user: 'a', password: 'of-a', kind: 'host' },
  { user: 'b', password: 'of-b', kind: 'host' },
  { user: 'agent', password: 'of-agent', kind: 'client' },
  { user: 'other', password: 'of-other', kind: 'client', workspaces: ['elsewhere'] },
  { user: 'maria', password: 'of-maria', kind: 'client', mayApprove: true },
  { user: 'eve', password: 'of-eve', kind: 'client', mayApprove: true },
  { user: 'operator', password: 'of-operator', kind: 'operator' },
  { user: 'status', password: 'of-status', kind: 'system' },
];

export interface TestFleet {
  readonly folder: string;
  readonly servers: DevServers;
  file(user: string, more?: Partial<FleetOptions>): FleetFile;
  /** The same as a file for a process. */
  write(user: string, more?: Partial<FleetOptions>): string;
  client(options?: Partial<ConnectToFleetOptions>): ReturnType<typeof connectToFleet>;
  /** A host in this process, which leaves before the servers stop. */
  join(file: FleetFile, log?: JoinOptions['log']): Promise<FleetMember>;
}

/** How the hosts of a test are ended. */
const hostsOf = new WeakMap<object, readonly (() => Promise<void>)[]>();

export async function startFleet(
  t: Pick<TestContext, 'after'>,
  { count = 1, leaseMs = 3000, sync }: { count?: 1 | 3; leaseMs?: number; sync?: string } = {},
): Promise<TestFleet> {
  const folder = mkdtempSync(path.join(os.tmpdir(), 'fleet-'));
  const servers = await startDevServers({
    folder: path.join(folder, 'servers'),
    count,
    tenant: 'main',
    users: USERS,
    ...(sync === undefined ? {} : { sync }),
  });
  t.after(async () => {
    // Hooks run in the order they were added, and hosts write into the folder until they end.
    for (const end of hostsOf.get(t) ?? []) await end();
    // One that a failed test left open would keep the process alive.
    for (const client of clients) void client.close().catch(() => undefined);
    await Promise.all(members.map((member) => member.close()));
    await servers.close();
    rmSync(folder, { recursive: true, force: true });
  });
  const clients: { close(): Promise<void> }[] = [];
  const members: FleetMember[] = [];
  const options = (user: string, more: Partial<FleetOptions> = {}): FleetOptions => ({
    servers: [...servers.addresses],
    credentials: { user, password: `of-${user}` },
    system: { user: 'status', password: 'of-status' },
    host: user,
    replicas: count,
    lease_ms: leaseMs,
    ...more,
  });
  return {
    folder,
    servers,
    file: (user, more) => checkFleet(options(user, more)),
    write(user, more) {
      const file = path.join(folder, `${user}.yaml`);
      writeFileSync(file, JSON.stringify(options(user, more)), { mode: 0o600 });
      return file;
    },
    client(more = {}) {
      const opening: ReturnType<TestFleet['client']> = connectToFleet({
        servers: [...servers.addresses],
        credentials: { user: 'agent', password: 'of-agent' },
        workspace: 'shop',
        waitMs: 30_000,
        ...more,
      });
      void opening.then(
        (client) => clients.push(client),
        () => undefined,
      );
      return opening;
    },
    async join(file, log = () => {}) {
      const member = await joinFleet(file, { workspaces: ['shop'], version: '0', log });
      members.push(member);
      return member;
    },
  };
}

export interface HostProcess {
  readonly name: string;
  readonly process: ChildProcess;
  readonly log: readonly string[];
  /** Resolves when the log has a line with this text, from now on or before. */
  logged(text: string): Promise<void>;
  ended: Promise<number | null>;
}

export interface HostOptions {
  readonly workspace: string | readonly string[];
  readonly file: string;
  /** The same folder for two hosts is storage that both can reach. */
  readonly state: string;
  readonly registry?: string;
  /** How far the clock of the process is from the one of the machine. */
  readonly shiftMs?: number;
}

/** `tool-runtime serve --fleet`, as a process of its own, running the sources. */
export function startHostProcess(
  t: Pick<TestContext, 'after'>,
  name: string,
  { workspace, file, state, registry, shiftMs }: HostOptions,
): HostProcess {
  mkdirSync(state, { recursive: true, mode: 0o700 });
  const main = path.join(ROOT, 'packages/host/test/cli-from-source.ts');
  const child = spawn(
    process.execPath,
    [
      ...(shiftMs === undefined ? [] : ['--import', shiftedClock(shiftMs)]),
      ...['-C', 'tool-runtime-source', main, 'serve', '--http', 'none', '--log-level', 'info', '--log-format', 'json'],
      ...[workspace].flat().flatMap((folder) => ['--workspace', folder]),
      ...['--state', state, '--fleet', file],
      ...(registry === undefined ? [] : ['--registry', registry]),
    ],
    { stdio: ['ignore', 'ignore', 'pipe'], env: { ...process.env, NODE_OPTIONS: '' } },
  );
  const log: string[] = [];
  const waiting = new Set<() => void>();
  const ended = new Promise<number | null>((resolve) => child.once('exit', resolve));
  const wake = (): void => {
    for (const look of [...waiting]) look();
  };
  createInterface({ input: child.stderr }).on('line', (line) => {
    log.push(line);
    wake();
  });
  void ended.then(wake);
  const end = async (): Promise<void> => {
    child.kill('SIGCONT');
    child.kill('SIGKILL');
    await ended;
  };
  hostsOf.set(t, [...(hostsOf.get(t) ?? []), end]);
  t.after(end);
  return {
    name,
    process: child,
    log,
    ended,
    logged: (text) =>
      new Promise((resolve, reject) => {
        const look = (): void => {
          if (log.some((line) => line.includes(text))) {
            waiting.delete(look);
            resolve();
          } else if (child.exitCode !== null || child.signalCode !== null) {
            waiting.delete(look);
            reject(new Error(`${name} ended without saying ${text}:\n${log.join('\n')}`));
          }
        };
        waiting.add(look);
        look();
      }),
  };
}

/** A module that sets the clock of a process. Timers and the monotonic clock stay as they are, as with a wrong wall clock. */
function shiftedClock(ms: number): string {
  const code = `
    const Real = Date;
    globalThis.Date = class Date extends Real {
      constructor(...given) {
        if (given.length === 0) super(Real.now() + ${ms});
        else super(...given);
      }
      static now() {
        return Real.now() + ${ms};
      }
    };`;
  return `data:text/javascript,${encodeURIComponent(code)}`;
}
