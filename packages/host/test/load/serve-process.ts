/** `tool-runtime serve` as a process of its own, on folders that outlive it: it can be killed and started again. */
import type { ChildProcessWithoutNullStreams } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import type { HostStatus } from '@tool-runtime/protocol';
import { type CliRun, createScratch, FROM_SOURCE, runCli, type Scratch, startCli } from '../run-cli.ts';
import { eventually } from '../wire/within.ts';

export interface ServeProcess {
  readonly url: string;
  readonly socket: string;
  readonly token: string;
  status(): Promise<HostStatus>;
  /** What it holds on to after a collection of its garbage. */
  liveBytes(): Promise<number>;
  /** SIGTERM; resolves with the exit code. */
  stop(): Promise<number | null>;
  /** SIGKILL, without a word; resolves when it is gone. */
  kill(): Promise<void>;
}

export interface ServeStage {
  readonly workspace: string;
  readonly state: string;
  start(): Promise<ServeProcess>;
  /** `tool-runtime <command>` on the same folders. */
  run(...command: string[]): Promise<CliRun>;
  [Symbol.dispose](): void;
}

/** Only what can be cancelled while it runs needs a command. */
/** A search may take long on a machine that does much else: it is the answers that are looked at, not their speed. */
const REGISTRY =
  'version: 1\nshell_allow: ["^sleep "]\ntools: { grep: { timeout_ms: 120000 }, fs_list: { timeout_ms: 120000 } }\n';

const LIVE_MEMORY = join(import.meta.dirname, 'live-memory.ts');

export function openServeStage(files: Readonly<Record<string, string>>): ServeStage {
  const scratch = createScratch();
  const registry = join(scratch.root, 'registry.yaml');
  writeFileSync(registry, REGISTRY);
  for (const [name, text] of Object.entries(files)) {
    mkdirSync(join(scratch.workspace, name, '..'), { recursive: true });
    scratch.write(name, text);
  }
  const running = new Set<ChildProcessWithoutNullStreams>();
  return {
    workspace: scratch.workspace,
    state: scratch.state,
    start: () => startServe(scratch, registry, running),
    run: (...command) => runCli([...command, ...scratch.options, '--registry', registry]),
    [Symbol.dispose]() {
      for (const child of running) child.kill('SIGKILL');
      scratch[Symbol.dispose]();
    },
  };
}

async function startServe(
  scratch: Scratch,
  registry: string,
  running: Set<ChildProcessWithoutNullStreams>,
): Promise<ServeProcess> {
  const liveFile = join(scratch.root, 'live-memory');
  const child = startCli(
    [
      'serve',
      ...scratch.options,
      ...['--registry', registry, '--http', '127.0.0.1:0', '--json', '--show-token', '--log-level', 'error'],
    ],
    { env: { LOAD_LIVE_MEMORY: liveFile }, program: ['--expose-gc', '--import', LIVE_MEMORY, ...FROM_SOURCE] },
  );
  running.add(child);
  const errors: Buffer[] = [];
  child.stderr.on('data', (chunk: Buffer) => errors.push(chunk));
  const ended = once(child, 'close').finally(() => running.delete(child));
  const lines = createInterface({ input: child.stdout });
  const first = await Promise.race([once(lines, 'line'), ended]);
  if (typeof first[0] !== 'string') throw new TypeError(`serve did not start: ${Buffer.concat(errors).toString()}`);
  const { url, socket, token } = JSON.parse(first[0]) as { url: string; socket: string; token: string };
  return {
    url,
    socket,
    token,
    async status() {
      const answer = await fetch(`${url}/v1/status`, { headers: { authorization: `Bearer ${token}` } });
      return (await answer.json()) as HostStatus;
    },
    async liveBytes() {
      rmSync(liveFile, { force: true });
      child.kill('SIGUSR2');
      return eventually(
        () => (existsSync(liveFile) && Number(readFileSync(liveFile, 'utf8'))) || undefined,
        'the memory of the host',
      );
    },
    async stop() {
      child.kill('SIGTERM');
      await ended;
      const said = Buffer.concat(errors).toString().trim();
      if (said !== '') throw new TypeError(`serve complained: ${said.slice(0, 2000)}`);
      return child.exitCode;
    },
    async kill() {
      child.kill('SIGKILL');
      await ended;
    },
  };
}
