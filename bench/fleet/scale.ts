/** Simulated hosts and workspaces: whether they hold, what each costs the servers and its host, against the capacity page. */
import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { fileURLToPath } from 'node:url';
import type { Budget } from '../budget.ts';
import { type BenchFleet, usageOf } from './bench-fleet.ts';
import type { CrowdLine, CrowdPlan } from './crowd.ts';

export interface Scale {
  readonly hosts: number;
  readonly workspaces: number;
  readonly holdMs: number;
}

const CROWD = fileURLToPath(new URL('crowd.ts', import.meta.url));
const PAGE = fileURLToPath(new URL('../../docs/fleet-operations.md', import.meta.url));

/** Names of the hosts that `measureScale` needs. */
export function crowdNames({ hosts }: Scale): readonly string[] {
  return Array.from({ length: hosts }, (_, at) => `h${at}`);
}

/** Half of the hosts have all the workspaces, so that the cost of a host and of a workspace can be told apart. */
export async function measureScale(fleet: BenchFleet, scale: Scale): Promise<readonly Budget[]> {
  const names = crowdNames(scale);
  const half = names.length / 2;
  const before = memoryOf(fleet);
  const bare = await startCrowd(fleet, 'bare', { names: names.slice(0, half), workspacesEach: 0, holdMs: 3_600_000 });
  const bareMemory = memoryOf(fleet);
  const workspacesEach = scale.workspaces / half;
  const full = await startCrowd(fleet, 'full', { names: names.slice(half), workspacesEach, holdMs: scale.holdMs });
  const fullMemory = memoryOf(fleet);
  const cpu = serverCpu(fleet);
  const began = performance.now();
  const kept = await full.next();
  const share = (serverCpu(fleet) - cpu) / (performance.now() - began);
  const perHost = (bareMemory - before) / half / fleet.servers.servers.length;
  const perWorkspace =
    Math.max(0, (fullMemory - bareMemory) / fleet.servers.servers.length - perHost * half) / scale.workspaces;
  const crowdWorkspace = Math.max(0, usageOf(full.pid).rssBytes - usageOf(bare.pid).rssBytes) / scale.workspaces;
  bare.kill();
  full.kill();
  const size = `${scale.hosts.toLocaleString('en')} hosts, ${scale.workspaces.toLocaleString('en')} workspaces`;
  return [
    { name: `${size}: workspaces lost in ${scale.holdMs / 1000} s`, atMost: 0, unit: '', measured: kept.lost },
    { name: `${size}: processors the three servers use`, atMost: pageFigure('processors'), unit: '', measured: share },
    { name: 'a host, on each server', atMost: pageFigure('host'), unit: 'KB', measured: perHost / 1024 },
    { name: 'a workspace, on each server', atMost: pageFigure('workspace'), unit: 'KB', measured: perWorkspace / 1024 },
    {
      name: 'a workspace, in the fleet part of its host',
      atMost: pageFigure('workspace at its host'),
      unit: 'KB',
      measured: crowdWorkspace / 1024,
    },
  ];
}

function memoryOf({ servers }: BenchFleet): number {
  return servers.servers.reduce((sum, { pid = 0 }) => sum + usageOf(pid).rssBytes, 0);
}

function serverCpu({ servers }: BenchFleet): number {
  return servers.servers.reduce((sum, { pid = 0 }) => sum + usageOf(pid).cpuMs, 0);
}

/** The number in the row of the page that begins with this word: what the page promises is what is judged. */
function pageFigure(unit: string): number {
  const found = new RegExp(`^\\| ${unit} \\| ([\\d.]+)`, 'm').exec(readFileSync(PAGE, 'utf8'))?.[1];
  if (found === undefined) throw new TypeError(`The capacity page has no row: ${unit}`);
  return Number(found);
}

interface Crowd {
  readonly pid: number;
  next(): Promise<CrowdLine>;
  kill(): void;
}

interface CrowdOptions extends Pick<CrowdPlan, 'workspacesEach' | 'holdMs'> {
  readonly names: readonly string[];
}

/** Resolves when everything is held. */
async function startCrowd(fleet: BenchFleet, name: string, options: CrowdOptions): Promise<Crowd> {
  const { names, workspacesEach, holdMs } = options;
  const files = names.map((host) => {
    const file = join(fleet.folder, `${host}.yaml`);
    writeFileSync(file, JSON.stringify(fleet.options(host)));
    return file;
  });
  const plan = join(fleet.folder, `crowd-${name}.json`);
  writeFileSync(plan, JSON.stringify({ files, workspacesEach, firstWorkspace: 0, holdMs } satisfies CrowdPlan));
  const child: ChildProcess = spawn(process.execPath, ['-C', 'tool-runtime-source', CROWD, plan], {
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  if (child.stdout === null || child.pid === undefined) throw new TypeError('The crowd has no output');
  const lines = createInterface({ input: child.stdout })[Symbol.asyncIterator]();
  const crowd: Crowd = {
    pid: child.pid,
    async next() {
      const { value, done } = await lines.next();
      if (done === true) throw new TypeError('The crowd ended early');
      return JSON.parse(value) as CrowdLine;
    },
    kill: () => void child.kill('SIGKILL'),
  };
  void once(child, 'exit');
  const held = await crowd.next();
  console.log(`  ${name}: ${held.hosts} hosts and ${held.workspaces} workspaces after ${held.tookMs} ms`);
  return crowd;
}
