/**
 * What one ssh process gets to reach one remote, in a folder of its own that goes with it: fixed options, the known keys of
 * that host and of no other, and a socket to the agent that signs logins of that user and nothing else.
 */
import { mkdtempSync, readFileSync, realpathSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { homedir, tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { safeText } from '@tool-runtime/protocol/internal';
import type { LentFolder } from '../../contracts/commands.ts';
import { policyDenial } from '../../contracts/failures.ts';
import type { SshTarget } from '../../contracts/git.ts';
import { gitFailure } from '../../git/git-failure.ts';
import { hostKeys, knownHostLines, readSshConfig, type SshAddress } from '../../git/remote-address.ts';
import { identityOf } from '../descriptors/root.ts';
import { errnoCode } from '../errno-error.ts';
import { resolveProgram } from '../processes/resolve-program.ts';
import { RELAY_NODE } from '../sandbox/proxy-relay-words.ts';
import { type AgentFilter, isGitSignature, isLogin, openAgentFilter } from './agent-filter.ts';

const MAX_FILE = 4 * 1024 * 1024;
const NAME = /^(?!-)[A-Za-z0-9._-]{1,253}$/;

/** The address with what the operator's configuration says of its host. Throws E_GIT where that is no plain name. */
export function resolveSshHost(
  address: SshAddress,
  remote: string,
  environment: Readonly<Record<string, string | undefined>>,
) {
  const folder = join(environment['HOME'] ?? homedir(), '.ssh');
  const config = readSshConfig(readSmall(join(folder, 'config')), address.host);
  const host = config.hostName?.replaceAll('%h', address.host) ?? address.host;
  const user = address.user ?? config.user ?? 'git';
  const port = address.port ?? config.port ?? '22';
  const names = [host, user, ...(config.hostKeyAlias === undefined ? [] : [config.hostKeyAlias])];
  if (!names.every((name) => NAME.test(name)) || !/^\d{1,5}$/.test(port)) throw badAddress(remote);
  return { folder, config, host, user, port };
}

/** Throws E_POLICY for a host without a known key, E_GIT where there is no agent or the operator's files are odd. */
export function findSshTarget(
  address: SshAddress,
  remote: string,
  environment: Readonly<Record<string, string | undefined>>,
): SshTarget {
  const { folder, config, host, user, port } = resolveSshHost(address, remote, environment);
  const agent = environment['SSH_AUTH_SOCK'];
  if (agent === undefined || agent === '') throw noAgent(remote);
  const name = config.hostKeyAlias ?? host;
  const known = [join(folder, 'known_hosts'), join(folder, 'known_hosts2'), '/etc/ssh/ssh_known_hosts'].map(readSmall);
  const lines = known.flatMap((text) =>
    knownHostLines(text, { name, port: config.hostKeyAlias === undefined ? port : '22' }),
  );
  const isKnown = hostKeys(lines).length > 0 || lines.some((line) => line.startsWith('@cert-authority'));
  if (!isKnown) throw unknownHost(name, port);
  const identities = config.identityFiles.flatMap((file) => {
    const text = readSmall(`${file.replace(/^~(?=\/)/, join(folder, '..'))}.pub`);
    return text === '' ? [] : [text];
  });
  return { host, user, port, knownHosts: lines, identities, agent, ...(name === host ? {} : { hostKeyAlias: name }) };
}

export interface SshTalk {
  readonly folder: LentFolder;
  /** Words before the verb. */
  readonly options?: readonly string[];
  readonly env: Readonly<Record<string, string>>;
  close(): Promise<void>;
}

export interface TalkOptions {
  readonly workspace: string;
  /** False: ssh connects by itself, because nothing separates it from the network. */
  readonly proxied: boolean;
}

export interface TalkFolder {
  readonly path: string;
  /** Answers the absolute path. */
  put(name: string, text: string): string;
}

/** A private folder for one run of git, removed when the run is over or cannot begin. */
export async function withTalkFolder(
  fill: (folder: TalkFolder) => Promise<{ readonly filter: AgentFilter } & Pick<SshTalk, 'env' | 'options'>>,
): Promise<SshTalk> {
  const path = realpathSync.native(mkdtempSync(join(tmpdir(), 'tool-runtime-ssh-')));
  const put = (name: string, text: string): string => {
    writeFileSync(join(path, name), text, { mode: 0o600, flag: 'wx' });
    return join(path, name);
  };
  const remove = (): void => rmSync(path, { recursive: true, force: true });
  try {
    const { filter, ...talk } = await fill({ path, put });
    return {
      ...talk,
      folder: { path, writable: false, identity: identityOf(statSync(path, { bigint: true })) },
      async close() {
        await filter.close();
        remove();
      },
    };
  } catch (thrown) {
    remove();
    throw thrown;
  }
}

export function openSshTalk(target: SshTarget, { workspace, proxied }: TalkOptions): Promise<SshTalk> {
  return withTalkFolder(async ({ path, put }) => {
    const connect = put(`connect.m${ENDING}`, readFileSync(CONNECT, 'utf8'));
    const socket = join(path, 'agent');
    const config = put(
      'config',
      configText(target, {
        knownHosts: put('known_hosts', `${target.knownHosts.join('\n')}\n`),
        identities: target.identities.map((text, at) => put(`id${at}.pub`, text)),
        socket,
        proxy: proxied ? `${RELAY_NODE} ${quote(connect)} %h %p` : undefined,
      }),
    );
    const keys = hostKeys(target.knownHosts);
    const filter = await openAgentFilter({
      socket,
      agent: target.agent,
      maySign: (data) => isLogin(data, { user: target.user, keys }),
    });
    const env = {
      GIT_SSH_COMMAND: `${findSsh('ssh', workspace)} -F ${quote(config)}`,
      GIT_SSH_VARIANT: 'ssh',
      GIT_ALLOW_PROTOCOL: 'ssh',
    };
    return { filter, env };
  });
}

/** As a source and as built. */
const ENDING = import.meta.url.endsWith('.ts') ? 'ts' : 'js';
const CONNECT = fileURLToPath(new URL('./ssh-connect.ts', import.meta.url)).replace(/ts$/, ENDING);

function quote(path: string): string {
  return `'${path.replaceAll("'", "'\\''")}'`;
}

interface TalkFiles {
  readonly knownHosts: string;
  readonly identities: readonly string[];
  readonly socket: string;
  readonly proxy: string | undefined;
}

/** No other configuration is read (`-F`), so nothing that is missing here has a value of the operator's or the system's. */
function configText({ host, user, port, hostKeyAlias }: SshTarget, files: TalkFiles): string {
  const options = [
    ['HostName', host],
    ['User', user],
    ['Port', port],
    ...(hostKeyAlias === undefined ? [] : [['HostKeyAlias', hostKeyAlias]]),
    ['StrictHostKeyChecking', 'yes'],
    ['UserKnownHostsFile', `"${files.knownHosts}"`],
    ['GlobalKnownHostsFile', 'none'],
    ['UpdateHostKeys', 'no'],
    ['VerifyHostKeyDNS', 'no'],
    ['CheckHostIP', 'no'],
    ['BatchMode', 'yes'],
    ['IdentityAgent', `"${files.socket}"`],
    ['IdentitiesOnly', files.identities.length > 0 ? 'yes' : 'no'],
    ...files.identities.map((file) => ['IdentityFile', `"${file}"`]),
    ...(files.identities.length > 0 ? [] : [['IdentityFile', 'none']]),
    ['PreferredAuthentications', 'publickey'],
    ['PasswordAuthentication', 'no'],
    ['KbdInteractiveAuthentication', 'no'],
    ['ForwardAgent', 'no'],
    ['ForwardX11', 'no'],
    ['ClearAllForwardings', 'yes'],
    ['PermitLocalCommand', 'no'],
    ['ControlMaster', 'no'],
    ['ControlPath', 'none'],
    ['Tunnel', 'no'],
    ['RequestTTY', 'no'],
    ['CanonicalizeHostname', 'no'],
    ['LogLevel', 'ERROR'],
    ...(files.proxy === undefined ? [] : [['ProxyCommand', files.proxy]]),
  ];
  return `Host *\n${options.map((words) => `  ${words.join(' ')}\n`).join('')}`;
}

/** Absolute path of a program of openssh-client. Throws E_GIT when there is none. */
export function findSsh(name: 'ssh' | 'ssh-keygen', workspace: string): string {
  try {
    return resolveProgram(name, { folders: ['/usr/local/bin', '/usr/bin', '/bin'], workspace });
  } catch {
    // The only way to fail is not to be there.
    const next = 'install it (apt-get install openssh-client)';
    throw gitFailure(`Program is not installed: ${name}`, { reason: 'not_installed', next });
  }
}

/** Empty when it is missing, too large or not readable. */
export function readSmall(path: string): string {
  try {
    const stat = statSync(path);
    return stat.isFile() && stat.size <= MAX_FILE ? readFileSync(path, 'utf8') : '';
  } catch (thrown) {
    if (errnoCode(thrown) === undefined) throw thrown;
    return '';
  }
}

function badAddress(remote: string) {
  return gitFailure(`Remote has no valid address: ${remote}`, {
    path: 'remote',
    reason: 'bad_address',
    next: `correct remote.${remote}.url: a host, and optionally a user and a port, of plain letters`,
  });
}

function noAgent(remote: string) {
  return gitFailure(`Remote needs an ssh agent, and there is none: ${remote}`, {
    path: 'remote',
    reason: 'no_agent',
    next: 'start the runtime with SSH_AUTH_SOCK set and the key added (ssh-add); key files are not read',
  });
}

function unknownHost(name: string, port: string) {
  const host = port === '22' ? name : `[${name}]:${port}`;
  return policyDenial(`Host key is not known: ${safeText(host, 120)}`, {
    path: 'remote',
    details: {
      gate: 'git_remote',
      reason: 'unknown_host_key',
      next: `have the operator connect once with ssh, compare the fingerprint, and add the key to ~/.ssh/known_hosts`,
    },
  });
}

const PUBLIC_KEY = /^(?:ssh|ecdsa|sk-ssh|sk-ecdsa)-[\w@.-]+ [A-Za-z0-9+/=]+(?: [^\x00-\x1f\x7f]*)?$/;

/**
 * What git gets to sign a commit: the public key, and a socket to the agent that signs for git and nothing else.
 *
 * Throws E_GIT without an agent, and for what is no public key.
 */
export function openSigning(
  key: string,
  { workspace }: Pick<TalkOptions, 'workspace'>,
  environment: Readonly<Record<string, string | undefined>>,
): Promise<SshTalk> {
  const agent = environment['SSH_AUTH_SOCK'];
  if (agent === undefined || agent === '') {
    throw cannotSign('there is no ssh agent', 'start the runtime with SSH_AUTH_SOCK set and the key added (ssh-add)');
  }
  const publicKey = publicKeyOf(key, environment['HOME'] ?? homedir());
  if (publicKey === undefined) {
    throw cannotSign('user.signingKey is no public ssh key', 'set it to a public key, or to the path of one');
  }
  return withTalkFolder(async ({ path, put }) => {
    const socket = join(path, 'agent');
    const options = [
      'gpg.format=ssh',
      `gpg.ssh.program=${findSsh('ssh-keygen', workspace)}`,
      `user.signingKey=${put('key.pub', `${publicKey}\n`)}`,
    ];
    const filter = await openAgentFilter({ socket, agent, maySign: isGitSignature });
    return { filter, options: options.flatMap((option) => ['-c', option]), env: { SSH_AUTH_SOCK: socket } };
  });
}

function publicKeyOf(key: string, home: string): string | undefined {
  const literal = key.replace(/^key::/, '').trim();
  if (PUBLIC_KEY.test(literal)) return literal;
  const path = key.replace(/^~(?=\/)/, home);
  if (!path.startsWith('/')) return undefined;
  return [path, `${path}.pub`].map((file) => readSmall(file).trim()).find((text) => PUBLIC_KEY.test(text));
}

function cannotSign(why: string, next: string) {
  return gitFailure(`Commit cannot be signed: ${why}`, {
    path: 'sign',
    reason: 'cannot_sign',
    next: `${next}; or pass sign: false to commit without a signature`,
  });
}
