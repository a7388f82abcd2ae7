/** A real sshd on loopback with a host key of its own, an ssh agent with a key it accepts, and a home folder that knows it. */
import { execFileSync, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { type AddressInfo, createServer } from 'node:net';
import { tmpdir, userInfo } from 'node:os';
import { join } from 'node:path';

export interface SshServer {
  readonly port: number;
  readonly user: string;
  /** Entry of the egress allowlist. */
  readonly domain: string;
  /** Has `.ssh/known_hosts` with the server's key. */
  readonly home: string;
  readonly agent: string;
  /** Public key of the one the agent holds. */
  readonly loginKey: string;
  /** Temporary folder of this process while it is used here. */
  readonly temporary: string;
  /** What sshd said so far. */
  log(): string;
  /** Line of known_hosts with this key, or with the server's. */
  knownHost(publicKey?: string): string;
  /** Text of a public key made for nothing. */
  otherKey(): string;
  url(path: string): string;
  /** Sets HOME, SSH_AUTH_SOCK and TMPDIR of this process until it is undone. */
  useHere(): () => void;
  close(): void;
}

export async function startSshServer(): Promise<SshServer> {
  const folder = mkdtempSync(join(tmpdir(), 'tool-runtime-sshd-'));
  const path = (name: string) => join(folder, name);
  const makeKey = (name: string): string => {
    execFileSync('ssh-keygen', ['-q', '-t', 'ed25519', '-N', '', '-C', name, '-f', path(name)]);
    return readFileSync(path(`${name}.pub`), 'utf8').trim();
  };
  const hostKey = makeKey('host');
  const loginKey = makeKey('login');
  writeFileSync(path('authorized'), `${loginKey}\n`, { mode: 0o600 });
  const port = await freePort();
  writeFileSync(path('sshd_config'), sshdConfig(path, port));
  // Where sshd run as root keeps an empty folder for its unprivileged half.
  if (process.getuid?.() === 0) mkdirSync('/run/sshd', { recursive: true });
  const sshd = spawn('/usr/sbin/sshd', ['-D', '-e', '-f', path('sshd_config')], {
    stdio: ['ignore', 'ignore', 'pipe'],
  });
  let said = '';
  sshd.stderr.on('data', (chunk: Buffer) => {
    said += chunk.toString('utf8');
  });
  while (!said.includes('Server listening')) {
    if (sshd.exitCode !== null) throw new Error(`sshd did not start: ${said}`);
    await Promise.race([once(sshd.stderr, 'data'), once(sshd, 'exit')]);
  }
  const agent = path('agent');
  const agentProcess = spawn('ssh-agent', ['-D', '-a', agent], { stdio: ['ignore', 'pipe', 'ignore'] });
  await once(agentProcess.stdout, 'data');
  execFileSync('ssh-add', ['-q', path('login')], { env: { ...process.env, SSH_AUTH_SOCK: agent }, stdio: 'ignore' });
  mkdirSync(path('tmp'));
  const home = path('home');
  mkdirSync(join(home, '.ssh'), { recursive: true, mode: 0o700 });
  const { username: user } = userInfo();
  const knownHost = (key = hostKey) => `[127.0.0.1]:${port} ${key}\n`;
  writeFileSync(join(home, '.ssh/known_hosts'), knownHost());
  let others = 0;
  return {
    ...{ port, user, home, agent, loginKey, knownHost, temporary: path('tmp') },
    domain: `127.0.0.1:${port}`,
    log: () => said,
    otherKey: () => makeKey(`other${others++}`),
    url: (repository) => `ssh://${user}@127.0.0.1:${port}${repository}`,
    useHere() {
      const { HOME, SSH_AUTH_SOCK, TMPDIR } = process.env;
      const before = { HOME, SSH_AUTH_SOCK, TMPDIR };
      Object.assign(process.env, { HOME: home, SSH_AUTH_SOCK: agent, TMPDIR: path('tmp') });
      return () => {
        for (const [name, value] of Object.entries(before)) {
          if (value === undefined) delete process.env[name];
          else process.env[name] = value;
        }
      };
    },
    close() {
      sshd.kill('SIGKILL');
      agentProcess.kill('SIGKILL');
      rmSync(folder, { recursive: true, force: true });
    },
  };
}

function sshdConfig(path: (name: string) => string, port: number): string {
  return `${[
    `Port ${port}`,
    'ListenAddress 127.0.0.1',
    `HostKey ${path('host')}`,
    `AuthorizedKeysFile ${path('authorized')}`,
    'PidFile none',
    'UsePAM no',
    'StrictModes no',
    'PermitRootLogin prohibit-password',
    'PasswordAuthentication no',
    'KbdInteractiveAuthentication no',
    'LogLevel VERBOSE',
  ].join('\n')}\n`;
}

async function freePort(): Promise<number> {
  const server = createServer().listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address() as AddressInfo;
  server.close();
  await once(server, 'close');
  return port;
}
