/**
 * The repository of a workspace, as tools and rules use it. Before git runs, its configuration has been read and checked;
 * the judgement is kept as long as the files it came from are the same.
 */
import { existsSync, lstatSync } from 'node:fs';
import { homedir } from 'node:os';
import { join } from 'node:path';
import type { JsonObject, ToolError } from '@tool-runtime/protocol';
import { once } from '@tool-runtime/protocol/internal';
import type { GitConfig, GitIdentity, GitOutput, GitRemote, GitRun, OpenGit } from '../../contracts/git.ts';
import type { GoverningPlace } from '../../contracts/governing.ts';
import type { Registry } from '../../contracts/registry.ts';
import { gitFailure, lockedFile } from '../../git/git-failure.ts';
import { createSettingNotices, judgeConfig, overrideWords } from '../../git/judge-config.ts';
import { judgeState } from '../../git/judge-state.ts';
import { type ConfigEntry, createConfig, parseConfig } from '../../git/parse-config.ts';
import { errnoCode } from '../errno-error.ts';
import type { Spawner } from '../processes/spawned-process.ts';
import { requireChangeable } from '../protection/governed-work-tree.ts';
import { runProgram } from '../sandbox/run-program.ts';
import type { SessionSandbox } from '../sandbox/session-sandbox.ts';
import { createGitFiles } from './git-files.ts';
import { findGitFolders, type GitFolders, plainFolders } from './git-folders.ts';
import { findGitLocks, holderOf } from './git-locks.ts';
import { createGitProgram, findGit } from './git-program.ts';
import { judgeRemote, readOnly } from './git-remotes.ts';
import { readState } from './git-state.ts';
import { createGitWrites } from './git-writes.ts';

interface GitOptions {
  readonly sandbox: SessionSandbox;
  readonly registry: Pick<Registry, 'allowedDomains' | 'insecureCredentials' | 'git' | 'spot' | 'durability'>;
  readonly governing: readonly GoverningPlace[];
  /** Where it is noted which gits may leave locks behind. */
  readonly state: string;
  /** Used when no committer is configured. */
  readonly actor: string;
}

interface Judged {
  readonly folders: GitFolders;
  readonly config: GitConfig;
  /** Words that make git ignore settings of the repository. */
  readonly overrides: readonly string[];
  /** What the files looked like that this was read from. */
  readonly witness: string;
  readonly watched: readonly string[];
}

export function createGitRepository({ sandbox, registry, actor, governing, state }: GitOptions): OpenGit {
  const writes = createGitWrites(state);
  const program = createGitProgram(sandbox, registry, writes);
  let judged: Judged | undefined;
  // Read once: the operator's file is not watched.
  const operator = once(() =>
    readOperatorConfig({
      spawner: sandbox.spawner,
      program: findGit(sandbox.workspace.path),
      environment: process.env,
    }),
  );
  const notices = createSettingNotices();

  async function ready(signal: AbortSignal | undefined): Promise<Judged> {
    if (judged !== undefined && judged.witness === witnessOf(judged.watched)) return judged;
    judged = undefined;
    const folders = findGitFolders(sandbox.workspace.path);
    const base = baseFiles(sandbox.workspace.path, folders);
    const before = witnessOf(base);
    const entries = await readConfig(program.run, folders, signal);
    const overridden = judgeConfig(entries, registry.git.allow_config, {
      registryAt: placeOf(registry, 'git.allow_config'),
    });
    // Hooks that run in the sandbox are used after all.
    notices.add(registry.git.hooks === 'off' ? overridden : overridden.filter(({ key }) => key !== 'core.hookspath'));
    const watched = [...new Set([...base, ...originFiles(entries, sandbox.workspace.path)])];
    // Changed while it was read: what was checked may not be what is there. The next call reads again.
    const config = createConfig(entries);
    const fresh = { folders, config, overrides: overrideWords(overridden), witness: witnessOf(watched), watched };
    if (before === witnessOf(base)) judged = fresh;
    return fresh;
  }

  /** A repository on this machine is as hostile as our own: the programs on its side read its configuration. */
  async function judgeLocalRemote(remote: GitRemote, gitDir: string, signal?: AbortSignal): Promise<void> {
    const listed = registry.git.allow_config;
    const folders = plainFolders(gitDir);
    const run = (request: GitRun) => program.run({ ...request, remote: readOnly(remote) }, folders, []);
    const entries = await readConfig(run, folders, signal);
    judgeConfig(entries, listed, {
      whose: `Remote ${remote.name}:`,
      registryAt: placeOf(registry, 'git.allow_config'),
      overrides: 'fixed',
    });
  }

  return {
    async run(request) {
      const { folders, overrides } = await ready(request.signal);
      requireSoundState(request, folders);
      const output = await program.run(request, folders, overrides);
      const lock = output.code === 0 ? undefined : lockedFile(output.stderr);
      // No exit code of a git that met a lock is an answer, whatever the caller accepts.
      if (lock !== undefined) throw failed(request, output, { lock, ...describeLock(lock, folders) });
      return accepted(request, output);
    },
    config: async (signal) => (await ready(signal)).config,
    async identity(signal) {
      const { config } = await ready(signal);
      return findIdentity({ config, operator: await operator(), actor, environment: process.env });
    },
    operatorConfig: operator,
    async remote(name, purpose, signal) {
      const { config } = await ready(signal);
      const place = (key: string) => placeOf(registry, key);
      const question = { name, purpose, workspace: sandbox.workspace.path, operator: await operator() };
      const remote = judgeRemote(question, config, { ...registry, place });
      if (remote.repository !== undefined) await judgeLocalRemote(remote, remote.repository, signal);
      return remote;
    },
    files: createGitFiles(() => findGitFolders(sandbox.workspace.path), { writes, durability: registry.durability }),
    requireChangeable: async (paths) => requireChangeable(paths, { workspace: sandbox.workspace.path, governing }),
    takeNotices: notices.take,
    close: () => program.close(),
  };
}

/** Plumbing that knows nothing of unfinished operations: saving and restoring must work whatever lies there. */
const UNAWARE: ReadonlySet<string | undefined> = new Set(
  'fast-import update-ref symbolic-ref read-tree write-tree hash-object update-index checkout-index'.split(' '),
);

function requireSoundState({ access, words, finishes }: GitRun, { gitDir }: GitFolders): void {
  if (access === 'read' || (finishes !== true && UNAWARE.has(words[0]))) return;
  judgeState(readState(gitDir), { aborting: words[1] === '--abort' });
}

/** All the repository says, its work tree's own file and includes among it; the fixed options on top are left out. */
async function readConfig(
  run: (request: GitRun, folders: GitFolders, overrides: readonly string[]) => Promise<GitOutput>,
  folders: GitFolders,
  signal?: AbortSignal,
): Promise<readonly ConfigEntry[]> {
  const { code, stdout, stderr } = await run(
    {
      words: ['config', '--list', '-z', '--show-origin', '--includes'],
      access: 'read',
      ...(signal === undefined ? {} : { signal }),
    },
    folders,
    [],
  );
  if (code === 0)
    return parseConfig(stdout.toString('utf8')).filter(({ origin }) => !origin.startsWith('command line:'));
  throw gitFailure('Repository configuration cannot be read', {
    reason: 'bad_config',
    next: 'fix .git/config',
    details: { stderr: stderr.slice(0, 500) },
  });
}

function baseFiles(workspace: string, { gitDir, commonDir }: GitFolders): readonly string[] {
  return [
    join(workspace, '.git'),
    join(commonDir, 'config'),
    join(gitDir, 'config.worktree'),
    join(gitDir, 'commondir'),
    join(commonDir, 'objects', 'info', 'alternates'),
  ];
}

function originFiles(entries: readonly ConfigEntry[], workspace: string): readonly string[] {
  const files = entries.flatMap(({ origin }) => (origin.startsWith('file:') ? [origin.slice('file:'.length)] : []));
  return [...new Set(files)].map((file) => (file.startsWith('/') ? file : join(workspace, file)));
}

/** The folder `.git` itself changes with every commit; of a folder only its identity counts. */
function witnessOf(files: readonly string[]): string {
  return files
    .map((file) => {
      try {
        const { dev, ino, size, mtimeNs, ctimeNs, mode } = lstatSync(file, { bigint: true });
        const isFolder = (mode & 0o170000n) === 0o040000n;
        return isFolder ? `${dev}:${ino}` : `${dev}:${ino}:${size}:${mtimeNs}:${ctimeNs}`;
      } catch (thrown) {
        if (errnoCode(thrown) === undefined) throw thrown;
        return '-';
      }
    })
    .join('|');
}

function placeOf({ spot }: Pick<Registry, 'spot'>, key: string): string | undefined {
  const found = spot(key);
  return found === undefined ? undefined : `${found.file}:${found.line}`;
}

function describeLock(path: string, { gitDir, commonDir }: GitFolders): JsonObject {
  const folder = [gitDir, commonDir].find((one) => path.startsWith(`${one}/`));
  const lock = folder === undefined ? undefined : findGitLocks(folder).find((one) => one.path === path);
  if (lock === undefined || folder === undefined) return { next: 'try again: the lock is gone' };
  const holder = holderOf(lock, folder);
  if (holder !== undefined) {
    return { held_by: `${holder.name} (${holder.pid})`, next: `try again when process ${holder.pid} has ended` };
  }
  return {
    next: `no running process holds the lock, and no call of this runtime made it: if git is not running elsewhere, ask a person to remove ${path}`,
  };
}

function accepted(request: GitRun, output: GitOutput): GitOutput {
  if ((request.accept ?? [0]).includes(output.code)) return output;
  throw failed(request, output, {});
}

const SSH_FAILURES: readonly { readonly said: RegExp; readonly reason: string; readonly next: string }[] = [
  {
    said: /Host key verification failed/,
    reason: 'host_key_changed',
    next: 'the host has another key than ~/.ssh/known_hosts says: have the operator find out why before changing the file',
  },
  {
    said: /Permission denied \(publickey|agent refused operation/,
    reason: 'ssh_login_refused',
    next: 'have the operator add the right key to the ssh agent (ssh-add -l lists them)',
  },
];

function failed({ words, remote }: GitRun, output: GitOutput, more: JsonObject): ToolError {
  const said = output.stderr.trim();
  const [verb = 'git'] = words;
  const known = remote?.ssh === undefined ? undefined : SSH_FAILURES.find((one) => one.said.test(said));
  return gitFailure(`Git ${verb} failed: ${firstComplaint(said)}`, {
    reason: known?.reason ?? 'git_failed',
    next: known?.next ?? 'read the message of git in details.stderr',
    details: { verb, exit_code: output.code, stderr: said.slice(0, 4000), ...more },
  });
}

function firstComplaint(said: string): string {
  const lines = said.split('\n');
  const line = lines.find((text) => /^(?:fatal|error): /.test(text)) ?? lines[0] ?? '';
  return line.replace(/^(?:fatal|error): /, '').slice(0, 300) || 'no reason given';
}

interface IdentitySources {
  readonly config: GitConfig;
  readonly operator: GitConfig;
  readonly actor: string;
  readonly environment: Readonly<Record<string, string | undefined>>;
}

/**
 * The committer: from the repository's configuration, then the environment of this process, then the operator's
 * configuration, else a name made up from the session's actor.
 */
function findIdentity({ config, operator, actor, environment }: IdentitySources): GitIdentity {
  const name = config.get('user.name') ?? environment['GIT_AUTHOR_NAME'] ?? written(operator, 'user.name');
  const email = config.get('user.email') ?? environment['GIT_AUTHOR_EMAIL'] ?? written(operator, 'user.email');
  if (name !== undefined && name !== '' && email !== undefined && email !== '') return { name, email, madeUp: false };
  const plain = actor.replace(/[^\p{L}\p{N} ._-]/gu, '').trim() || 'tool-runtime';
  const local = plain.normalize('NFKD').replace(/[^A-Za-z0-9._-]/g, '') || 'tool-runtime';
  return { name: name ?? plain, email: email ?? `${local}@tool-runtime.invalid`, madeUp: true };
}

function written(config: GitConfig, key: string): string | undefined {
  return config.get(key) || undefined;
}

interface OperatorSources {
  readonly spawner: Spawner;
  /** Absolute path of git. */
  readonly program: string;
  readonly environment: Readonly<Record<string, string | undefined>>;
}

/**
 * The operator's own git configuration. Git runs without it; what is honoured of it (who commits, sign-offs, signatures,
 * rewritten addresses) is read here as text, by git itself. Reading starts nothing.
 *
 * A file that git cannot read counts as empty.
 */
async function readOperatorConfig({ spawner, program, environment }: OperatorSources): Promise<GitConfig> {
  const entries: ConfigEntry[] = [];
  for (const file of filesOf(environment)) {
    const args = ['config', '--file', file, '--includes', '-z', '--show-origin', '--list'];
    const running = await runProgram({ file: program, args }, { folder: '/', spawner });
    const chunks: Buffer[] = [];
    for await (const chunk of running.stdout) chunks.push(chunk as Buffer);
    const { code } = await running.ended;
    if (code === 0) entries.push(...parseConfig(Buffer.concat(chunks).toString('utf8')));
  }
  return createConfig(entries);
}

/** In git's order: of a key with one value, the last one counts. */
function filesOf(environment: OperatorSources['environment']): readonly string[] {
  const home = environment['HOME'] ?? homedir();
  const configHome = environment['XDG_CONFIG_HOME'] ?? join(home, '.config');
  const named = environment['GIT_CONFIG_GLOBAL'];
  const files = named === undefined ? [join(configHome, 'git', 'config'), join(home, '.gitconfig')] : [named];
  return ['/etc/gitconfig', ...files].filter((file) => existsSync(file));
}
