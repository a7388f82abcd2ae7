/**
 * Two sessions with a loopback each, as root or as a user without privileges, in a folder that user owns. Started by
 * session-network.test.ts; prints one line of JSON: what each case answered.
 */
import { mkdirSync, readdirSync, readlinkSync } from 'node:fs';
import { type AddressInfo, connect, createServer, type Server } from 'node:net';
import { join } from 'node:path';
import koffi from 'koffi';
import type { CommandRequest, OpenCommandRunner, RunningCommand } from '../src/contracts/commands.ts';
import { createCommandRunner } from '../src/platform/commands/command-runner.ts';
import { createSpawner } from '../src/platform/processes/spawner.ts';

const [base = '', user = ''] = process.argv.slice(2);
const spawner = createSpawner({ backend: 'native' });
const PR_SET_DUMPABLE = 4;
const isOwner = process.getuid?.() === Number(user);
if (!isOwner) {
  process.setgroups?.([]);
  process.setgid?.(Number(user));
  process.setuid?.(Number(user));
  // The kernel keeps the descriptors of a process that gave up root from other processes; of one that never was root not.
  koffi.load(null).func('int prctl(int, long, long, long, long)')(PR_SET_DUMPABLE, 1, 0, 0, 0);
}
process.env['HOME'] = join(base, 'home');
const [workspace, state] = [join(base, 'workspace'), join(base, 'state')];
mkdirSync(workspace);
mkdirSync(state, { mode: 0o700 });
const openSession = () =>
  createCommandRunner({ workspace, state, isolation: 'bubblewrap', allowedDomains: ['localhost'], spawner });

function start(
  session: OpenCommandRunner,
  script: string,
  more: Partial<CommandRequest> = {},
): Promise<RunningCommand> {
  const list = { pipelines: [{ operator: null, commands: [{ argv: ['perl', '-MSocket', '-e', script], column: 1 }] }] };
  return session.start({ list, cwd: '.', env: {}, stdin: null, network: false, maxOutputBytes: 10_000, ...more });
}

async function listening(options: object): Promise<Server> {
  const server = createServer((socket) => socket.end('host')).listen(options);
  await new Promise((resolve) => server.once('listening', resolve));
  return server;
}

const host = await listening({ host: '127.0.0.1', port: 0 });
const abstract = await listening({ path: `\0session-network-${process.pid}` });
const hostPort = (host.address() as AddressInfo).port;
// A port that nothing on the host uses just now.
const free = await listening({ host: '127.0.0.1', port: 0 });
const { port } = free.address() as AddressInfo;
await new Promise((resolve) => free.close(resolve));

const SERVER = `$| = 1; socket(L, PF_INET, SOCK_STREAM, 0); bind(L, sockaddr_in(${port}, inet_aton("127.0.0.1"))) or exit 2;
  listen(L, 5); print "up\n"; while (accept(C, L)) { syswrite(C, "hello"); close C }`;
const client = (at: number) =>
  `socket(S, PF_INET, SOCK_STREAM, 0); connect(S, sockaddr_in(${at}, inet_aton("127.0.0.1"))) or exit 7; print <S>`;
const ABSTRACT = `socket(S, PF_UNIX, SOCK_STREAM, 0); exit !connect(S, pack("Sxa*", 1, "session-network-${process.pid}"))`;
const NETWORK = 'print readlink("/proc/self/ns/net")';

async function answer(session: OpenCommandRunner, script: string, more: Partial<CommandRequest> = {}): Promise<string> {
  const { code, stdout } = await (await start(session, script, more)).done;
  return code === 0 ? `ok ${stdout.text}`.trim() : 'refused';
}

function fromHost(): Promise<string> {
  return new Promise((resolve) => {
    const socket = connect(port, '127.0.0.1', () => resolve('ok'));
    socket.on('error', () => resolve('refused'));
    socket.unref();
  });
}

const [one, two] = [openSession(), openSession()];
const report: Record<string, unknown> = {};
const descriptors = () => readdirSync('/proc/self/fd').length;
await answer(one, 'exit 0');
await answer(two, 'exit 0');
const before = descriptors();
const privateNetworks = [await answer(one, NETWORK), await answer(one, NETWORK)];
const up = Promise.withResolvers<void>();
const server = await start(one, SERVER, { mayStay: true, onOutput: () => up.resolve() });
await up.promise;
const other = await start(two, 'sleep 1000', { mayStay: true });
const shared = await answer(one, NETWORK);

report['a later command reaches the server'] = await answer(one, client(port));
report['another session reaches it'] = await answer(two, client(port));
report['the host reaches it'] = await fromHost();
report['a command reaches a server of the host'] = await answer(one, client(hostPort));
report['a command reaches an abstract socket of the host'] = await answer(one, ABSTRACT);
report['later commands share one network'] = shared === (await answer(one, NETWORK));
report['it is not that of the host'] = !shared.includes(readlinkSync('/proc/self/ns/net'));
report['another session has another'] = shared !== (await answer(two, NETWORK));
// The relay to the proxy is a file of this repository, which another user may not be able to read.
if (isOwner) {
  report['a command with network reaches it'] = await answer(one, client(port), { network: true });
  report['a command with network has its own'] = shared !== (await answer(one, NETWORK, { network: true }));
}
report['without a job every command has its own'] = privateNetworks[0] !== privateNetworks[1];
await server.stop();
report['the server is gone'] = await answer(one, client(port));
await Promise.all([one.close(), two.close()]);
report['jobs ended with their session'] = (await other.done).signal;
report['no descriptor is left'] = descriptors() <= before;
process.stdout.write(JSON.stringify({ uid: process.getuid?.(), report }));
host.close();
abstract.close();
