/** Checks a configured remote: its address by the egress gate, a local one by who may reach outside the workspace. */
import { randomBytes } from 'node:crypto';
import { realpathSync, statSync } from 'node:fs';
import { dirname, join, resolve } from 'node:path';
import { safeText } from '@tool-runtime/protocol/internal';
import { policyDenial } from '../../contracts/failures.ts';
import type { GitConfig, GitRemote } from '../../contracts/git.ts';
import type { Registry } from '../../contracts/registry.ts';
import { needsEncryption, unencrypted } from '../../egress/judge-headers.ts';
import { judgeUrl } from '../../egress/judge-url.ts';
import { fixedOptions } from '../../git/fixed-options.ts';
import { gitFailure } from '../../git/git-failure.ts';
import { checkRemoteName } from '../../git/ref-names.ts';
import { parseRemoteAddress, type RemoteAddress, rewriteAddress, type SshAddress } from '../../git/remote-address.ts';
import { identityOf } from '../descriptors/root.ts';
import { errnoCode } from '../errno-error.ts';
import { kindOf } from '../sandbox/bubblewrap-args.ts';
import { findSshTarget, resolveSshHost } from './ssh-talk.ts';

export type RemoteRules = Pick<Registry, 'allowedDomains' | 'insecureCredentials' | 'git'> & {
  /** `file:line` of the key that decided. */
  place(key: string): string | undefined;
};

/** The other side of a local talk reads the configuration of its repository: ours is put over it, hooks off first of all. */
const PEER = ['git', ...fixedOptions(() => false).map((word) => `'${word}'`)].join(' ');

export interface RemoteQuestion {
  readonly name: string;
  readonly purpose: 'fetch' | 'push';
  readonly workspace: string;
  /** Rewrites addresses too: its rules come first, as they do in git. */
  readonly operator: GitConfig;
}

export function judgeRemote(question: RemoteQuestion, config: GitConfig, rules: RemoteRules): GitRemote {
  const name = checkRemoteName(question.name);
  const key = `remote.${name}.url`;
  const addresses = config.all(key);
  const pushed = question.purpose === 'push' ? config.all(`remote.${name}.pushurl`) : [];
  const used = pushed.length > 0 ? pushed : addresses.slice(0, question.purpose === 'push' ? undefined : 1);
  if (used.length === 0) throw notConfigured(name, config);
  if (question.purpose === 'push' && !rules.git.allow_push) throw pushForbidden(rules);
  const isRewritable = pushed.length === 0;
  const judged = used.map((written) => {
    const address = rewriteAddress(written, { push: isRewritable && question.purpose === 'push' }, [
      question.operator,
      config,
    ]);
    return judgeAddress(parseRemoteAddress(name, address), name, question, rules);
  });
  const [first] = judged;
  if (first === undefined || judged.length > 1) {
    throw gitFailure(`Remote has several addresses: ${name}`, {
      path: 'remote',
      reason: 'several_addresses',
      next: 'keep one push address per remote',
    });
  }
  return addressed(first, name);
}

/**
 * The remote by a name that cannot be configured, with the checked address as its only one: git contacts what was checked,
 * and no other key of the remote (push, mirror, tagOpt, a second address) has a say.
 */
function addressed({ address, settings, ...judged }: Addressed, name: string): GitRemote {
  const alias = `tool-runtime-${randomBytes(16).toString('hex')}`;
  const tracked = `remote.${alias}.fetch=+refs/heads/*:refs/remotes/${name}/*`;
  const options = [...judged.options, '-c', `remote.${alias}.url=${alias}:`, '-c', tracked];
  // Git rewrites addresses by the longest matching prefix: ours is the whole text, which no rule of the repository can know.
  const rewritten = ['insteadOf', 'pushInsteadOf'].map((key) => [`url.${address}.${key}`, `${alias}:`] as const);
  return {
    ...judged,
    env: { ...judged.env, ...settingsEnvironment([...settings, ...rewritten]) },
    name,
    alias,
    options,
  };
}

type Setting = readonly [key: string, value: string];

/** Keys may hold `=`, which only this form can say. */
function settingsEnvironment(settings: readonly Setting[]): Readonly<Record<string, string>> {
  const pairs = settings.flatMap(([key, value], at) => [
    [`GIT_CONFIG_KEY_${at}`, key],
    [`GIT_CONFIG_VALUE_${at}`, value],
  ]);
  return { GIT_CONFIG_COUNT: String(settings.length), ...Object.fromEntries(pairs) };
}

/** The same remote for a look at it. */
export function readOnly(remote: GitRemote): GitRemote {
  const { folder } = remote;
  return folder === undefined ? remote : { ...remote, folder: { ...folder, writable: false } };
}

type Addressed = Omit<GitRemote, 'name' | 'alias'> & {
  readonly address: string;
  readonly settings: readonly Setting[];
};

function judgeAddress(
  address: RemoteAddress,
  name: string,
  { workspace, purpose }: RemoteQuestion,
  rules: RemoteRules,
): Addressed {
  if (address.transport === 'ssh') return sshRemote(address, name, rules);
  if (address.transport === 'local') return localRemote(address.path, { name, workspace, purpose }, rules);
  const judged = new URL(address.url);
  const credentials = judged.username !== '' || judged.password !== '';
  if (credentials) {
    throw policyDenial(`Remote address holds credentials: ${name}`, {
      path: 'remote',
      details: {
        reason: 'credentials_in_url',
        next: `take them out of remote.${name}.url; name them in git.credentials`,
      },
    });
  }
  judgeUrl(address.url, rules.allowedDomains);
  return {
    url: address.shown,
    address: address.url,
    transport: 'http',
    options: HTTP_OPTIONS,
    settings: credentialsFor(judged, rules),
    env: { GIT_ALLOW_PROTOCOL: 'http:https' },
  };
}

function sshRemote(address: SshAddress, name: string, { allowedDomains }: RemoteRules): Addressed {
  const { host, port } = resolveSshHost(address, name, process.env);
  // The gate knows hosts and ports, whatever is spoken there.
  judgeUrl(`https://${host}:${port}/`, allowedDomains);
  const ssh = findSshTarget(address, name, process.env);
  return { url: address.shown, address: address.url, transport: 'ssh', ssh, options: [], settings: [], env: {} };
}

/** Git follows no redirect to an unchecked place; the proxy would refuse it anyway. */
const HTTP_OPTIONS = ['-c', 'http.followRedirects=false', '-c', 'http.cookieFile='];

/**
 * The operator names the variable that holds a host's token; git gets it in its environment, for this run only. Throws
 * E_POLICY where it would be sent in the clear.
 */
function credentialsFor(url: URL, { git, insecureCredentials }: RemoteRules): readonly Setting[] {
  const variable = git.credentials[url.host] ?? git.credentials[url.hostname];
  const token = variable === undefined ? undefined : process.env[variable];
  if (token === undefined || token === '') return [];
  if (needsEncryption(url, insecureCredentials)) throw unencrypted('git.credentials', url, 'remote');
  const pair = token.includes(':') ? token : `x-access-token:${token}`;
  return [[`http.${url.origin}/.extraHeader`, `Authorization: Basic ${Buffer.from(pair).toString('base64')}`]];
}

function localRemote(
  path: string,
  { name, workspace, purpose }: Omit<RemoteQuestion, 'operator'>,
  rules: RemoteRules,
): Addressed {
  const folder = realRepository(resolve(workspace, path));
  if (folder === undefined) {
    throw gitFailure(`Remote is not a repository on this machine: ${name}`, {
      path: 'remote',
      reason: 'remote_not_found',
      next: `check remote.${name}.url`,
    });
  }
  const isInside = `${folder}/`.startsWith(`${workspace}/`);
  if (!isInside && !rules.git.allow_push) {
    const place = rules.place('git.allow_push');
    throw policyDenial(`Remote lies outside the workspace: ${name}`, {
      path: 'remote',
      details: {
        gate: 'git_remote',
        rule: 'sec.paths.sandbox',
        reason: 'outside_workspace',
        ...(place === undefined ? {} : { registry: place }),
        next: 'have the operator set git.allow_push: true, which also opens local remotes',
      },
    });
  }
  return {
    url: folder,
    address: folder,
    transport: 'local',
    ...(isInside ? {} : { folder: { path: folder, writable: purpose === 'push', identity: identityAt(folder) } }),
    repository: isRepository(folder) ? folder : join(folder, '.git'),
    options: [],
    settings: [],
    env: { GIT_ALLOW_PROTOCOL: 'file' },
    peer: { uploadPack: `--upload-pack=${PEER} upload-pack`, receivePack: `--receive-pack=${PEER} receive-pack` },
  };
}

/** The folder that holds a repository's data: itself when bare, `.git` below it otherwise. Mounted as a whole. */
function realRepository(path: string): string | undefined {
  try {
    const real = realpathSync.native(path);
    if (isRepository(real)) return real;
    return isRepository(join(real, '.git')) && kindOf(join(real, '.git')) === 'folder' ? real : undefined;
  } catch (thrown) {
    if (errnoCode(thrown) === undefined) throw thrown;
    return undefined;
  }
}

function identityAt(folder: string): string {
  return identityOf(statSync(folder, { bigint: true }));
}

function isRepository(folder: string): boolean {
  return ['objects', 'refs'].every((name) => kindOf(join(folder, name)) === 'folder') && dirname(folder) !== folder;
}

function notConfigured(name: string, config: GitConfig) {
  const known = [...new Set(config.keys().flatMap((key) => /^remote\.(.+)\.url$/s.exec(key)?.[1] ?? []))];
  return gitFailure(`Remote is not configured: ${safeText(name, 120)}`, {
    path: 'remote',
    reason: 'unknown_remote',
    next: known.length === 0 ? 'the repository has no remotes' : `use one of: ${known.join(', ')}`,
  });
}

function pushForbidden(rules: RemoteRules) {
  const place = rules.place('git.allow_push');
  return policyDenial('Push is not allowed: git.allow_push is false', {
    details: {
      gate: 'git_push',
      reason: 'push_forbidden',
      ...(place === undefined ? {} : { registry: place }),
      next: 'have the operator set git.allow_push: true in the registry',
    },
  });
}
