/** `tool-runtime serve` from the sources, with the preloads that let its clock, disk and memory be handled from outside. */
import { once } from 'node:events';
import { existsSync, readFileSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import type { HostStatus } from '@tool-runtime/protocol';
import type { ServeAddress } from '../../../packages/host/test/load/load-clients.ts';
import { FROM_SOURCE, startCli } from '../../../packages/host/test/run-cli.ts';
import { openDescriptors } from './process-tree.ts';

export interface HostProcess extends ServeAddress {
  readonly pid: number;
  /** Descriptors it had open when it said that it is ready. */
  readonly firstDescriptors: number;
  /** What it logged so far. */
  log(): string;
  status(): Promise<HostStatus>;
  /** What it holds on to after a collection of its garbage; undefined when it does not answer in time. */
  liveBytes(): Promise<number | undefined>;
  /** Resolves when it is gone, however that came about. */
  readonly ended: Promise<HostEnd>;
  signal(signal: NodeJS.Signals): void;
}

export interface HostEnd {
  readonly code: number | null;
  readonly signal: NodeJS.Signals | null;
}

export interface HostPlaces {
  readonly workspaces: readonly string[];
  readonly state: string;
  readonly registry: string;
  readonly control: string;
  readonly temporary: string;
}

/** A start that failed: what it said. */
export interface FailedStart {
  readonly end: HostEnd;
  readonly said: string;
}

const PRELOAD = join(import.meta.dirname, 'host-preload.ts');
const LIVE_MEMORY = join(import.meta.dirname, '../../../packages/host/test/load/live-memory.ts');
const LIVE_WAIT_MS = 4000;

export async function startHost(places: HostPlaces): Promise<HostProcess | FailedStart> {
  const liveFile = join(places.control, 'live-memory');
  const child = startCli(serveWords(places), {
    env: { LOAD_LIVE_MEMORY: liveFile, CHAOS_CONTROL: places.control, TMPDIR: places.temporary },
    program: ['--expose-gc', '--import', PRELOAD, '--import', LIVE_MEMORY, ...FROM_SOURCE],
  });
  let logged = '';
  child.stderr.on('data', (chunk: Buffer) => {
    logged += chunk.toString('utf8');
  });
  const ended = once(child, 'close').then(([code, signal]): HostEnd => ({ code, signal }));
  const first = await Promise.race([once(createInterface({ input: child.stdout }), 'line'), ended]);
  if (!Array.isArray(first)) return { end: first, said: logged };
  const { url, socket, token } = JSON.parse(first[0] as string) as ServeAddress;
  return {
    url,
    socket,
    token,
    pid: child.pid ?? -1,
    firstDescriptors: openDescriptors(child.pid ?? -1),
    log: () => logged,
    ended,
    signal: (signal) => void child.kill(signal),
    async status() {
      const answer = await fetch(`${url}/v1/status`, { headers: { authorization: `Bearer ${token}` } });
      return (await answer.json()) as HostStatus;
    },
    async liveBytes() {
      rmSync(liveFile, { force: true });
      child.kill('SIGUSR2');
      return awaitNumber(liveFile);
    },
  };
}

function serveWords({ workspaces: [workspace = '', ...also], state, registry }: HostPlaces): readonly string[] {
  return [
    ...['serve', '--workspace', workspace, ...also.flatMap((folder) => ['--also', folder])],
    ...['--state', state, '--registry', registry, '--http', '127.0.0.1:0'],
    ...['--json', '--show-token', '--log-level', 'error', '--drain-timeout', '20'],
  ];
}

async function awaitNumber(file: string): Promise<number | undefined> {
  const deadline = performance.now() + LIVE_WAIT_MS;
  while (performance.now() < deadline) {
    const found = existsSync(file) ? Number(readFileSync(file, 'utf8')) : 0;
    if (found > 0) return found;
    await new Promise((resolve) => setTimeout(resolve, 20));
  }
  return undefined;
}
