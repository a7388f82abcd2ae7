/** Local servers for development and tests: one or three processes on loopback, configured as a real fleet needs it. */
import { type ChildProcess, spawn } from 'node:child_process';
import { closeSync, existsSync, mkdirSync, openSync, readFileSync, writeFileSync } from 'node:fs';
import { connect as connectSocket, createServer } from 'node:net';
import { homedir } from 'node:os';
import path from 'node:path';
import { ToolError } from '@tool-runtime/protocol';
import { sleep } from '../wire/sleep.ts';
import { type FleetUser, type ServerPlan, serverConfig } from './server-config.ts';

export interface DevServersOptions {
  readonly folder: string;
  readonly count: 1 | 3;
  readonly tenant: string;
  readonly users: readonly FleetUser[];
  /** The program; by default the one that `npm run setup` unpacked, or `nats-server` of the path. */
  readonly program?: string;
  /** Only to show that an unsafe setting is refused. */
  readonly sync?: string;
  readonly tls?: ServerPlan['tls'];
}

export interface DevServer {
  readonly name: string;
  readonly port: number;
  /** Of the process that runs now. */
  readonly pid: number | undefined;
  kill(signal: NodeJS.Signals): void;
  /** After its process has ended. */
  start(): Promise<void>;
  /** Resolves when its process has ended. */
  ended(): Promise<void>;
}

export interface DevServers {
  readonly servers: readonly DevServer[];
  readonly addresses: readonly string[];
  close(): Promise<void>;
}

const READY_MS = 30_000;
const STOP_MS = 5000;

/** The one in the cache folder of the user first: stable distributions have older ones on the path. */
export function serverProgram(): string {
  const cache = process.env['XDG_CACHE_HOME'] || path.join(homedir(), '.cache');
  const unpacked = path.join(cache, 'tool-runtime/nats-server/nats-server');
  return existsSync(unpacked) ? unpacked : 'nats-server';
}

export async function startDevServers(options: DevServersOptions): Promise<DevServers> {
  const { folder, count, tenant, users, program = serverProgram(), sync, tls } = options;
  mkdirSync(folder, { recursive: true, mode: 0o700 });
  const ports = await freePorts(2 * count);
  const routes = count === 1 ? [] : ports.slice(count);
  const servers = ports.slice(0, count).map((port, at) => {
    const name = `n${at + 1}`;
    const plan = {
      name,
      folder,
      port,
      clusterPort: ports[count + at] ?? 0,
      routes,
      tenant,
      users,
      ...(sync === undefined ? {} : { sync }),
      ...(tls === undefined ? {} : { tls }),
    };
    const config = path.join(folder, `${name}.conf`);
    writeFileSync(config, serverConfig(plan), { mode: 0o600 });
    return new LocalServer({ name, port, config, log: path.join(folder, `${name}.log`), program });
  });
  const close = async (): Promise<void> => {
    await Promise.all(servers.map((server) => server.stop()));
  };
  try {
    await Promise.all(servers.map((server) => server.start()));
  } catch (thrown) {
    await close();
    throw thrown;
  }
  return { servers, addresses: servers.map(({ port }) => `nats://127.0.0.1:${port}`), close };
}

interface LocalServerOptions {
  readonly name: string;
  readonly port: number;
  readonly config: string;
  readonly log: string;
  readonly program: string;
}

class LocalServer implements DevServer {
  readonly name: string;
  readonly port: number;
  readonly #options: LocalServerOptions;
  #process: ChildProcess | undefined;
  #ended: Promise<void> = Promise.resolve();

  constructor(options: LocalServerOptions) {
    this.#options = options;
    this.name = options.name;
    this.port = options.port;
  }

  get pid(): number | undefined {
    return this.#process?.pid;
  }

  kill(signal: NodeJS.Signals): void {
    this.#process?.kill(signal);
  }

  ended(): Promise<void> {
    return this.#ended;
  }

  async start(): Promise<void> {
    const { program, config, log } = this.#options;
    const output = openSync(log, 'a', 0o600);
    const child = spawn(program, ['-c', config], { stdio: ['ignore', output, output] });
    closeSync(output);
    this.#process = child;
    const failed = Promise.withResolvers<never>();
    failed.promise.catch(() => undefined);
    this.#ended = new Promise((resolve) => {
      child.once('error', (cause) => {
        failed.reject(cannotStart(program, cause));
        resolve();
      });
      child.once('exit', () => {
        if (this.#process === child) this.#process = undefined;
        failed.reject(endedEarly(program, log));
        resolve();
      });
    });
    const over = new AbortController();
    try {
      await Promise.race([this.#answers(over.signal), failed.promise]);
    } finally {
      over.abort();
    }
  }

  async stop(): Promise<void> {
    const child = this.#process;
    if (child === undefined) return;
    // A frozen one hears nothing else.
    child.kill('SIGCONT');
    child.kill('SIGTERM');
    const late = setTimeout(() => child.kill('SIGKILL'), STOP_MS);
    await this.#ended;
    clearTimeout(late);
  }

  async #answers(over: AbortSignal): Promise<void> {
    const until = AbortSignal.any([over, AbortSignal.timeout(READY_MS)]);
    while (!(await isListening(this.port))) {
      if (until.aborted) throw endedEarly(this.#options.program, this.#options.log);
      await sleep(50, until);
    }
  }
}

function isListening(port: number): Promise<boolean> {
  return new Promise((resolve) => {
    const socket = connectSocket({ port, host: '127.0.0.1' });
    socket.once('connect', () => {
      socket.destroy();
      resolve(true);
    });
    socket.once('error', () => resolve(false));
  });
}

/** Held together until all are known, so that none is given twice. */
async function freePorts(count: number): Promise<readonly number[]> {
  const holders = await Promise.all(
    Array.from({ length: count }, async () => {
      const server = createServer();
      await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
      return server;
    }),
  );
  const ports = holders.map((server) => (server.address() as { readonly port: number }).port);
  await Promise.all(holders.map((server) => new Promise((resolve) => server.close(resolve))));
  return ports;
}

function cannotStart(program: string, cause: unknown): ToolError {
  return new ToolError('E_SHELL', `Server cannot be started: ${program}`, {
    details: {
      reason: 'server_missing',
      next: 'install nats-server 2.15 or newer, or name it with --server; npm run setup unpacks one for this repository',
    },
    cause,
  });
}

function endedEarly(program: string, log: string): ToolError {
  const last = readFileSync(log, 'utf8').trimEnd().split('\n').slice(-3).join('\n');
  return new ToolError('E_SHELL', `Server ended or does not listen: ${program}`, {
    details: { reason: 'server_failed', log, last, next: 'read its log' },
  });
}
