/** Three servers as a real fleet has them, and hosts that are processes of their own, on loopback. */
import { type ChildProcess, spawn } from 'node:child_process';
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { fileURLToPath } from 'node:url';
import { type ConnectToFleetOptions, connectToFleet, type FleetOptions } from '@tool-runtime/fleet';
import { type DevServers, type FleetUser, startDevServers } from '@tool-runtime/fleet/operate';
import { FROM_SOURCE } from '../../packages/host/test/run-cli.ts';

const ROOT = fileURLToPath(new URL('../..', import.meta.url));
const WAIT_MS = 60_000;
const REGISTRY = 'version: 1\nshell: { mode: sandboxed }\n';

export interface BenchFleet {
  readonly servers: DevServers;
  readonly folder: string;
  /** What a host or an operator of this name has in its fleet file. */
  options(user: string, more?: Partial<FleetOptions>): FleetOptions;
  /** Resolves when it holds the workspace. */
  startHost(user: string, workspace: string, leaseMs: number): Promise<ChildProcess>;
  client(workspace: string, more?: Partial<ConnectToFleetOptions>): ReturnType<typeof connectToFleet>;
  close(): Promise<void>;
}

/** `extra`: hosts beside `a` and `b`. */
export async function startBenchFleet(extra: readonly string[] = []): Promise<BenchFleet> {
  const folder = mkdtempSync(join(tmpdir(), 'tool-runtime-bench-fleet-'));
  const users: readonly FleetUser[] = [
    ...['a', 'b', ...extra].map((user) => ({ user, password: `of-${user}`, kind: 'host' }) as const),
    { user: 'agent', password: 'of-agent', kind: 'client' },
    { user: 'operator', password: 'of-operator', kind: 'operator' },
    { user: 'status', password: 'of-status', kind: 'system' },
  ];
  const servers = await startDevServers({ folder: join(folder, 'servers'), count: 3, tenant: 'main', users });
  const running = new Set<ChildProcess>();
  writeFileSync(join(folder, 'registry.yaml'), REGISTRY);
  const options = (user: string, more: Partial<FleetOptions> = {}): FleetOptions => ({
    servers: [...servers.addresses],
    credentials: { user, password: `of-${user}` },
    system: { user: 'status', password: 'of-status' },
    host: user,
    replicas: 3,
    ...more,
  });
  return {
    servers,
    folder,
    options,
    async startHost(user, workspace, leaseMs) {
      const file = join(folder, `${user}.yaml`);
      writeFileSync(file, JSON.stringify(options(user, { workspaces: [workspace], lease_ms: leaseMs })));
      const [work, state] = [join(folder, workspace), join(folder, `state-${user}`)];
      for (const made of [work, state]) mkdirSync(made, { recursive: true, mode: 0o700 });
      const places = ['--workspace', work, '--state', state, '--registry', join(folder, 'registry.yaml')];
      const how = ['--http', 'none', '--log-level', 'info', '--log-format', 'json'];
      const child = spawn(process.execPath, [...FROM_SOURCE, 'serve', '--fleet', file, ...places, ...how], {
        cwd: ROOT,
        stdio: ['ignore', 'ignore', 'pipe'],
      });
      running.add(child);
      child.once('exit', () => running.delete(child));
      await said(child, 'workspace_held');
      return child;
    },
    client: (workspace, more = {}) =>
      connectToFleet({
        servers: [...servers.addresses],
        credentials: { user: 'agent', password: 'of-agent' },
        workspace,
        waitMs: WAIT_MS,
        ...more,
      }),
    async close() {
      for (const child of running) child.kill('SIGKILL');
      await servers.close();
      rmSync(folder, { recursive: true, force: true });
    },
  };
}

function said(child: ChildProcess, word: string): Promise<void> {
  return new Promise((resolve, reject) => {
    const last: string[] = [];
    if (child.stderr === null) throw new TypeError('The child has no output');
    createInterface({ input: child.stderr }).on('line', (line) => {
      last.push(line);
      if (line.includes(word)) resolve();
    });
    child.once('exit', () => reject(new Error(`The host ended: ${last.slice(-5).join('\n')}`)));
  });
}

/** Of a process: processor time so far, and memory that is in use. */
export function usageOf(pid: number): { readonly cpuMs: number; readonly rssBytes: number } {
  const stat = readFileSync(`/proc/${pid}/stat`, 'utf8');
  const [user = 0, system = 0] = stat
    .slice(stat.lastIndexOf(')') + 2)
    .split(' ')
    .slice(11, 13)
    .map(Number);
  const rss = /^VmRSS:\s+(\d+) kB$/m.exec(readFileSync(`/proc/${pid}/status`, 'utf8'))?.[1];
  return { cpuMs: (user + system) * TICK_MS, rssBytes: Number(rss) * 1024 };
}

/** The kernel counts in hundredths of a second, whatever its own clock is. */
const TICK_MS = 10;
