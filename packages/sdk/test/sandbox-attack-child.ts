/**
 * Attacks on the sandbox, each with the twin that must succeed. Runs in a process of its own, as root or as a user
 * without privileges, in a folder that user owns. Started by sandbox-attacks.deep.test.ts; prints one line of JSON:
 * what each case answered.
 */
import { type ChildProcess, spawn } from 'node:child_process';
import { existsSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { type AddressInfo, createServer } from 'node:net';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import type { CommandOutcome, CommandRequest, OpenCommandRunner, RunningCommand } from '../src/contracts/commands.ts';
import { createCommandRunner } from '../src/platform/commands/command-runner.ts';
import { createSpawner } from '../src/platform/processes/spawner.ts';
import { createBubblewrap } from '../src/platform/sandbox/isolation-bubblewrap.ts';

const [base = '', user = '', network = 'own'] = process.argv.slice(2);
const [home, workspace, state, shown] = ['home', 'workspace', 'home/shown/state', 'home/shown'].map((name) =>
  join(base, name),
) as [string, string, string, string];

const spawner = createSpawner({ backend: 'native' });
if (process.getuid?.() === 0 && Number(user) !== 0) {
  process.setgroups?.([]);
  process.setgid?.(Number(user));
  process.setuid?.(Number(user));
}
process.env['HOME'] = home;
for (const folder of [home, workspace, shown, join(base, 'outside')]) mkdirSync(folder);
mkdirSync(state, { mode: 0o700 });
mkdirSync(join(workspace, '.git'));
writeFileSync(join(home, 'canary'), 'CANARY');
writeFileSync(join(state, 'canary'), 'CANARY');
writeFileSync(join(shown, 'tool'), 'TOOL');

const common = { workspace, state, allowedDomains: [], spawner };
const walled = createCommandRunner({ ...common, isolation: 'bubblewrap', readPaths: [shown] });
const bare = createCommandRunner({ ...common, isolation: 'none' });
const narrow = createCommandRunner({
  ...common,
  isolation: createBubblewrap({
    spawner,
    folder: join(state, 'wall'),
    limits: { fileBytes: 1_000_000, memoryBytes: 100_000_000, processes: 50 },
  }),
});

function start(runner: OpenCommandRunner, argv: readonly string[], more: Partial<CommandRequest> = {}) {
  const list = { pipelines: [{ operator: null, commands: [{ argv, column: 1 }] }] };
  const mayStay = network === 'shared';
  return runner.start({
    list,
    cwd: '.',
    env: {},
    stdin: null,
    network: false,
    mayStay,
    maxOutputBytes: 100_000,
    ...more,
  });
}

async function run(runner: OpenCommandRunner, argv: readonly string[]): Promise<CommandOutcome> {
  return (await start(runner, argv)).done;
}

/** `refused` when the command failed; otherwise what it printed. */
async function answer(runner: OpenCommandRunner, argv: readonly string[]): Promise<string> {
  const { code, stdout } = await run(runner, argv);
  return code === 0 ? `ok ${stdout.text}`.trim() : 'refused';
}

const sh = (script: string, ...args: readonly string[]) => ['sh', '-c', script, 'sh', ...args];
const perl = (script: string, ...args: readonly string[]) => ['perl', '-MSocket', '-e', script, ...args];

async function listening(options: { path: string } | { host: string; port: number }): Promise<number> {
  const server = createServer((socket) => socket.end()).listen(options);
  await new Promise((resolve) => server.once('listening', resolve));
  server.unref();
  return (server.address() as AddressInfo).port;
}

const CONNECT_PORT =
  'socket(S, PF_INET, SOCK_STREAM, 0) or exit 2; exit !connect(S, sockaddr_in($ARGV[0], inet_aton("127.0.0.1")))';
const CONNECT_PATH = 'socket(S, PF_UNIX, SOCK_STREAM, 0) or exit 2; exit !connect(S, pack("Sa*", 1, $ARGV[0]))';
const CONNECT_NAME = 'socket(S, PF_UNIX, SOCK_STREAM, 0) or exit 2; exit !connect(S, pack("Sxa*", 1, $ARGV[0]))';
const OWN_LOOPBACK = `socket(L, PF_INET, SOCK_STREAM, 0); bind(L, sockaddr_in(4000, inet_aton("127.0.0.1"))) or exit 2;
  listen(L, 1); socket(S, PF_INET, SOCK_STREAM, 0); exit !connect(S, sockaddr_in(4000, inet_aton("127.0.0.1")))`;
const PTRACE = process.arch === 'x64' ? 101 : 117;
const FORKS =
  'my $n = 0; while ($n < 300) { my $p = fork; last if !defined $p; if (!$p) { sleep 60; exit } $n++ } print $n';

const abstractName = `wall-test-${process.pid}`;
const victims: ChildProcess[] = [];
function victim(): string {
  const child = spawn('/bin/sleep', ['1000'], { stdio: 'ignore' });
  victims.push(child);
  return String(child.pid);
}

async function beats(file: string): Promise<boolean> {
  const before = existsSync(file) ? readFileSync(file, 'utf8').length : 0;
  await delay(300);
  return existsSync(file) && readFileSync(file, 'utf8').length > before;
}

/** A process that left its session, its parent and its output behind, and beats on. */
const HEART =
  'setsid sh -c "trap \\"\\" HUP TERM INT; (while :; do echo x >> $1; sleep 0.02; done) >/dev/null 2>&1 &" sh "$1" &';

async function outlive(how: 'stop' | 'end'): Promise<string> {
  const name = `beat-${how}`;
  const file = join(workspace, name);
  const script = how === 'stop' ? `${HEART} sleep 1000` : `${HEART} sleep 0.5`;
  const command: RunningCommand = await start(walled, sh(script, name));
  while (!existsSync(file)) await delay(5);
  const whileRunning = await beats(file);
  if (how === 'stop') await command.stop();
  await command.done;
  return `${whileRunning ? 'alive' : 'dead'} then ${(await beats(file)) ? 'alive' : 'dead'}`;
}

function processesWith(marker: string, file: 'environ' | 'cmdline'): number {
  return readdirSync('/proc').filter((pid) => {
    try {
      return /^\d+$/.test(pid) && readFileSync(`/proc/${pid}/${file}`, 'latin1').includes(marker);
    } catch {
      return false;
    }
  }).length;
}

/** Bounded by itself: as root nothing else would bound it before it is killed. */
const BOMB = 'fork for 1..10; print "grown"; $| = 1; sleep 1000';

async function forkBomb(): Promise<string> {
  const env = { BOMB_MARKER: `bomb-${process.pid}` };
  const bomb = await start(narrow, perl(BOMB), { env });
  while (processesWith(env.BOMB_MARKER, 'environ') < 40) await delay(5);
  await bomb.stop();
  return `${processesWith(env.BOMB_MARKER, 'environ')} left`;
}

async function secretPlaces(): Promise<string> {
  const env = { TOKEN_FOR_TEST: `secret-${process.pid}` };
  const printed = Promise.withResolvers<void>();
  const command = await start(walled, sh('echo "$TOKEN_FOR_TEST"; exec sleep 1000'), {
    env,
    onOutput: () => printed.resolve(),
  });
  await printed.promise;
  const onCommandLines = processesWith(env.TOKEN_FOR_TEST, 'cmdline');
  await command.stop();
  const { stdout } = await command.done;
  return `${stdout.text.trim() === env.TOKEN_FOR_TEST} ${onCommandLines}`;
}

async function floodOfOutput(): Promise<string> {
  await run(walled, ['head', '-c', '100000000', '/dev/zero']);
  const before = process.memoryUsage.rss();
  let highest = 0;
  const command = await start(walled, ['head', '-c', '1000000000', '/dev/zero'], {
    onOutput: () => {
      highest = Math.max(highest, process.memoryUsage.rss());
    },
  });
  const { stdout } = await command.done;
  return `${stdout.totalBytes} ${stdout.truncated} ${highest - before < 100_000_000 ? 'flat' : highest - before}`;
}

const outside = join(base, 'outside', 'made');
const setting = '/proc/sys/vm/overcommit_ratio';
const port = await listening({ host: '127.0.0.1', port: 0 });
await listening({ path: join(base, 'socket') });
await listening({ path: `\0${abstractName}` });

const CASES: Record<string, () => Promise<string>> = {
  'write outside': async () => `${await run(walled, sh('echo x > "$1"', outside)).then(() => existsSync(outside))}`,
  'write inside': async () =>
    `${await run(walled, sh('echo x > made')).then(() => existsSync(join(workspace, 'made')))}`,
  'write to the system': () => answer(walled, sh('echo x > /usr/made || echo x > /etc/made || echo x > /made')),
  'write to temporary and home folder': () => answer(walled, sh('echo x > /tmp/made && echo x > "$HOME/made"')),
  'find it again in the next command': () => answer(walled, sh('ls /tmp/made "$HOME/made"')),
  'read the home folder': () => answer(walled, ['cat', join(home, 'canary')]),
  'read the home folder, no wall': () => answer(bare, ['cat', join(home, 'canary')]),
  'read what is shown': () => answer(walled, ['cat', join(shown, 'tool')]),
  'write what is shown': () => answer(walled, sh('echo x > "$1"', join(shown, 'tool'))),
  'read state inside what is shown': () => answer(walled, ['cat', join(state, 'canary')]),
  'change git data': () => answer(walled, sh('echo x > .git/config')),
  'unmount the guard of git data': () => answer(walled, sh('umount .git || umount -l .git')),
  'connect to loopback': () => answer(walled, perl(CONNECT_PORT, String(port))),
  'connect to loopback, no wall': () => answer(bare, perl(CONNECT_PORT, String(port))),
  'connect to a loopback of its own': () => answer(walled, perl(OWN_LOOPBACK)),
  'connect to a socket file': () => answer(walled, perl(CONNECT_PATH, join(base, 'socket'))),
  'connect to a socket file, no wall': () => answer(bare, perl(CONNECT_PATH, join(base, 'socket'))),
  'connect to an abstract socket': () => answer(walled, perl(CONNECT_NAME, abstractName)),
  'connect to an abstract socket, no wall': () => answer(bare, perl(CONNECT_NAME, abstractName)),
  'signal a process of the host': () => answer(walled, sh('kill -0 "$1"', victim())),
  'signal a process of the host, no wall': () => answer(bare, sh('kill -0 "$1"', victim())),
  'see processes': () => answer(walled, sh('set -- /proc/[0-9]*; [ $# -lt 8 ] && echo few')),
  'trace a process of the host': () =>
    answer(walled, perl('exit !(syscall($ARGV[0], 16, $ARGV[1]+0, 0, 0) == 0)', String(PTRACE), victim())),
  'be traced by its parent': () => answer(walled, perl('exit !(syscall($ARGV[0], 0, 0, 0, 0) == 0)', String(PTRACE))),
  'remount the system': () => answer(walled, sh('mount -o remount,rw /usr || mount -o remount,rw,bind /usr')),
  'mount something': () => answer(walled, sh('mount -t tmpfs none /tmp || mount --bind /tmp /etc')),
  'make a user namespace': () => answer(walled, ['unshare', '-U', 'true']),
  'make a user namespace, no wall': () => answer(bare, ['unshare', '-U', 'true']),
  'read a setting of the kernel': () => answer(walled, sh('[ -n "$(cat "$1")" ]', setting)),
  'write a setting of the kernel': () => answer(walled, sh('exec 9>> "$1"', setting)),
  'have capabilities': () => answer(walled, sh('grep -E "^Cap(Eff|Bnd|Prm)" /proc/self/status | grep -vE "0{16}$"')),
  'open descriptors': () => answer(walled, sh('echo $(ls /proc/self/fd)')),
  'read input when there is none': () => answer(walled, ['cat']),
  'write to a terminal': () => answer(walled, sh('echo x > /dev/tty')),
  'outlive the kill': () => outlive('stop'),
  'outlive the command': () => outlive('end'),
  'fork without end': forkBomb,
  'print without end': floodOfOutput,
  'count of processes': () => answer(narrow, perl(FORKS)),
  'write a large file': async () => `${(await run(narrow, sh('exec head -c 2000000 /dev/zero > big'))).signal}`,
  'write a small file': () => answer(narrow, sh('head -c 500000 /dev/zero > small')),
  'use much memory': () => answer(narrow, perl('$x = "a" x 300_000_000; print length $x')),
  'use some memory': () => answer(narrow, perl('$x = "a" x 20_000_000; print length $x')),
  'show secrets on command lines': secretPlaces,
};

const report: Record<string, string> = {};
for (const [name, attempt] of Object.entries(CASES)) report[name] = await attempt();
for (const runner of [walled, bare, narrow]) await runner.close();
for (const child of victims) child.kill('SIGKILL');
process.stdout.write(JSON.stringify({ uid: process.getuid?.(), report }));
