/** fleet dev: three servers and two hosts on this machine, until Ctrl-C. Nothing of it stays behind. */
import { type ChildProcess, spawn } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { mkdirSync, mkdtempSync, realpathSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { basename, join, resolve } from 'node:path';
import type { DevServers, FleetUser } from '@tool-runtime/fleet/operate';
import { ToolError } from '@tool-runtime/protocol';
import type { Command } from 'commander';
import { printJson, printLine, showWarning } from '../../../terminal/terminal.ts';
import { checkWorkspace } from '../../../terminal/workspace-folder.ts';
import type { Done } from '../../command.ts';
import { loadOperate } from './load.ts';

interface DevOptions {
  readonly workspace: string;
  readonly server?: string;
  readonly registry?: string;
  readonly json?: boolean;
}

const HOSTS = ['a', 'b'] as const;
const STOP_MS = 15_000;

export function addDev(command: Command, done: Done): void {
  command
    .command('dev')
    .description('Start three servers and two hosts on this machine, print a command to try, end all of it on Ctrl-C')
    .option('-w, --workspace <dir>', 'folder that both hosts serve', '.')
    .option('--registry <file>', "the operator's registry for both hosts")
    .addOption(command.createOption('--server <program>', 'nats-server 2.15 or newer').env('TOOL_RUNTIME_NATS_SERVER'))
    .option('--json', 'machine-readable output')
    .action(async (options: DevOptions) => {
      checkWorkspace(options.workspace);
      await runDev(options);
      done(0);
    });
}

async function runDev(options: DevOptions): Promise<void> {
  const stopping = Promise.withResolvers<void>();
  const over = new AbortController();
  const onSignal = (): void => stopping.resolve();
  for (const name of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) process.on(name, onSignal);
  const folder = mkdtempSync(join(tmpdir(), 'tool-runtime-fleet-'));
  const hosts: ChildProcess[] = [];
  let servers: DevServers | undefined;
  try {
    const { startDevServers } = await loadOperate();
    const users = devUsers();
    servers = await startDevServers({
      folder: join(folder, 'servers'),
      count: 3,
      tenant: 'main',
      users,
      ...(options.server === undefined ? {} : { program: options.server }),
    });
    const workspace = realpathSync.native(options.workspace);
    const name = basename(workspace).replaceAll(/[^\w.-]/g, '-') || 'root';
    const files = writeFiles(folder, { users, addresses: servers.addresses, name });
    for (const host of HOSTS) hosts.push(startHost(host, { ...options, workspace, folder, file: files(host) }));
    await holds(files('operator'), name, hosts, stopping.promise);
    announce(
      { servers, hosts, name, client: files('agent'), operator: files('operator'), state: stateOf(folder, HOSTS[0]) },
      options.json === true,
    );
    await Promise.race([stopping.promise, lastEnd(hosts, servers, over.signal)]);
  } finally {
    over.abort();
    await Promise.all(hosts.map(stopHost));
    await servers?.close();
    rmSync(folder, { recursive: true, force: true });
    for (const name of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) process.off(name, onSignal);
  }
}

/** Passwords of this run alone. */
function devUsers(): readonly FleetUser[] {
  const secret = (): string => randomBytes(18).toString('base64url');
  return [
    ...HOSTS.map((user) => ({ user, password: secret(), kind: 'host' }) as const),
    { user: 'agent', password: secret(), kind: 'client' },
    { user: 'operator', password: secret(), kind: 'operator' },
    { user: 'status', password: secret(), kind: 'system' },
  ];
}

interface Written {
  readonly users: readonly FleetUser[];
  readonly addresses: readonly string[];
  readonly name: string;
}

/** JSON is YAML too. */
function writeFiles(folder: string, { users, addresses, name }: Written): (user: string) => string {
  const credentialsOf = (user: string) => ({ user, password: users.find((one) => one.user === user)?.password ?? '' });
  for (const { user, kind } of users) {
    const text = {
      servers: addresses,
      credentials: credentialsOf(user),
      ...(kind === 'client' ? {} : { system: credentialsOf('status') }),
      ...(kind === 'host' ? { host: user, zone: `zone-${user}`, workspaces: [name] } : {}),
    };
    writeFileSync(join(folder, `${user}.yaml`), `${JSON.stringify(text, null, 2)}\n`, { mode: 0o600 });
  }
  return (user) => join(folder, `${user}.yaml`);
}

interface HostPlan extends DevOptions {
  readonly folder: string;
  readonly file: string;
}

function stateOf(folder: string, host: string): string {
  return join(folder, `state-${host}`);
}

/** The same program as this one, in a process of its own. */
function startHost(host: string, { workspace, folder, file, registry }: HostPlan): ChildProcess {
  const state = stateOf(folder, host);
  mkdirSync(state, { mode: 0o700 });
  const [program = ''] = process.argv.slice(1);
  const args = ['serve', '--fleet', file, '--workspace', workspace, '--state', state, '--http', '127.0.0.1:0'];
  const given = registry === undefined ? [] : ['--registry', resolve(registry)];
  return spawn(process.execPath, [...process.execArgv, program, ...args, '--log-level', 'warn', ...given], {
    stdio: ['ignore', 'ignore', 'inherit'],
    // Ctrl-C reaches this process, which ends the hosts in order.
    detached: true,
  });
}

/** Hosts and servers may be killed for a try: the others go on. Rejects when no host is left. */
async function lastEnd(hosts: readonly ChildProcess[], { servers }: DevServers, over: AbortSignal): Promise<never> {
  const went = (what: string): void => {
    if (!over.aborted) showWarning(`${what} has ended; the others go on`);
  };
  for (const server of servers) void server.ended().then(() => went(`server ${server.name}`));
  await Promise.all(
    hosts.map(async (host, at) => {
      await ended(host);
      if (hosts.some(isRunning)) went(`host ${HOSTS[at]}`);
    }),
  );
  throw new ToolError('E_INTERNAL', 'All hosts have ended', {
    details: { reason: 'hosts_ended', next: 'run fleet dev again' },
  });
}

function isRunning({ exitCode, signalCode }: ChildProcess): boolean {
  return exitCode === null && signalCode === null;
}

function ended(child: ChildProcess): Promise<void> {
  if (!isRunning(child)) return Promise.resolve();
  return new Promise((done) => child.once('exit', () => done()));
}

async function stopHost(child: ChildProcess): Promise<void> {
  child.kill('SIGTERM');
  const late = setTimeout(() => child.kill('SIGKILL'), STOP_MS);
  await ended(child);
  clearTimeout(late);
}

/** Resolves when a host holds the workspace, or the run is to end. */
async function holds(
  file: string,
  name: string,
  hosts: readonly ChildProcess[],
  stopping: Promise<void>,
): Promise<void> {
  const { readFleetFile, withWire, holderNow } = await loadOperate();
  let isStopping = false;
  void stopping.then(() => {
    isStopping = true;
  });
  await withWire(readFleetFile(file), async (wire) => {
    while (!isStopping && (await holderNow(wire, name)) === undefined) {
      if (!hosts.some(isRunning)) throw hostsEnded();
      await new Promise((wake) => setTimeout(wake, 100));
    }
  });
}

function hostsEnded(): ToolError {
  return new ToolError('E_INTERNAL', 'The hosts ended before they held the workspace', {
    details: { reason: 'hosts_ended', next: 'read what they said above' },
  });
}

interface Started {
  readonly servers: DevServers;
  readonly hosts: readonly ChildProcess[];
  readonly name: string;
  readonly client: string;
  readonly operator: string;
  /** Of the first host. */
  readonly state: string;
}

function announce({ servers, hosts, name, client, operator, state }: Started, isJson: boolean): void {
  if (isJson) {
    printJson(
      {
        servers: servers.servers.map(({ name: server, port, pid }) => ({ name: server, port, pid })),
        hosts: hosts.map(({ pid }, at) => ({ name: HOSTS[at], pid })),
        workspace: name,
        client_file: client,
        operator_file: operator,
        state,
      },
      { compact: true },
    );
    return;
  }
  for (const { name: server, port, pid } of servers.servers)
    printLine(`server     ${server}  127.0.0.1:${port}  pid ${pid}`);
  for (const [at, { pid }] of hosts.entries()) printLine(`host       ${HOSTS[at]}  pid ${pid}`);
  printLine(`workspace  ${name}`);
  printLine('try');
  printLine(`  tool-runtime fleet call fs_list '{"path":"."}' --workspace ${name} --fleet ${client}`);
  printLine(`  tool-runtime fleet status --fleet ${operator}`);
  printLine(`  tool-runtime console --state ${state}`);
  printLine('Ctrl-C ends all of it');
}
