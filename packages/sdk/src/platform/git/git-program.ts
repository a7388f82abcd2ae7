/**
 * Starts git: the one place that does. No shell, an environment built from nothing, everything that could start another
 * program switched off, the session's sandbox around it, its output whole or not at all.
 */
import type { ToolError } from '@tool-runtime/protocol';
import { failure } from '../../contracts/failures.ts';
import type { GitOutput, GitRun } from '../../contracts/git.ts';
import type { Registry } from '../../contracts/registry.ts';
import { FULL_SYNC_OPTIONS, fixedEnvironment, fixedOptions } from '../../git/fixed-options.ts';
import { gitFailure } from '../../git/git-failure.ts';
import { isListed } from '../../git/judge-config.ts';
import { resolveProgram } from '../processes/resolve-program.ts';
import {
  type ReadyProgram,
  type SandboxedProcess,
  type SandboxSetting,
  startSandboxed,
} from '../sandbox/sandboxed-process.ts';
import type { SessionSandbox } from '../sandbox/session-sandbox.ts';
import type { GitFolders } from './git-folders.ts';
import type { GitWrites } from './git-writes.ts';
import { openSigning, openSshTalk, type SshTalk, type TalkOptions } from './ssh-talk.ts';

export interface GitProgram {
  /** Exit codes are not checked here. `overrides`: words before the verb that close what the repository's settings open. */
  run(request: GitRun, folders: GitFolders, overrides: readonly string[]): Promise<GitOutput>;
  close(): Promise<void>;
}

const FOLDERS = ['/usr/local/bin', '/usr/bin', '/bin'];
const MAX_OUTPUT = 64 * 1024 * 1024;
const MAX_COMPLAINT = 64 * 1024;

export function createGitProgram(
  shared: SessionSandbox,
  registry: Pick<Registry, 'git' | 'durability'>,
  writes: Pick<GitWrites, 'begin'>,
): GitProgram {
  const options = [
    '--no-pager',
    '--no-optional-locks',
    ...fixedOptions((key) => isListed(key, registry.git.allow_config)),
    ...(registry.durability === 'full' ? FULL_SYNC_OPTIONS : []),
  ];
  const running = new Set<SandboxedProcess>();
  let program: string | undefined;

  async function start(request: GitRun, { folders, overrides, proxy, talk }: Start): Promise<GitOutput> {
    program ??= findGit(shared.workspace.path);
    const sandbox = enterSandbox(shared, request, { folders, proxy, talk });
    try {
      const more = [...(talk?.options ?? []), ...(request.remote?.options ?? [])];
      const confined = sandbox.confine({
        program,
        args: [...options, ...overrides, ...places(shared, folders), ...more, ...request.words],
        env: { ...environment(request, folders, sandbox.places.home), ...talk?.env },
        cwd: '.',
      });
      const setting = { spawner: shared.spawner, sandbox, stop: request.signal };
      const run = () => runIn(setting, { name: 'git', confined }, { request, running });
      return await (request.access === 'read' ? run() : recorded(writes, foldersOf(request, folders), run));
    } finally {
      sandbox.leave();
    }
  }

  return {
    async run(request, folders, overrides) {
      await shared.require(request.signal);
      const proxy = await proxyFor(request, shared);
      const talk = await openTalk(request, { workspace: shared.workspace.path, proxied: proxy !== null });
      try {
        return await start(request, { folders, overrides, proxy, talk });
      } finally {
        await talk?.close();
      }
    },
    async close() {
      for (const { process } of running) process.kill('SIGKILL');
      await Promise.allSettled([...running].map(({ ended }) => ended));
    },
  };
}

interface Start {
  readonly folders: GitFolders;
  readonly overrides: readonly string[];
  readonly proxy: string | null;
  /** What ssh needs for the remote, or for a signature. */
  readonly talk: SshTalk | undefined;
}

/** Git reports a fatal error, also of a child that was killed, from this exit code on. */
const FATAL = 128;

async function recorded(
  writes: Pick<GitWrites, 'begin'>,
  gitFolders: readonly string[],
  run: () => Promise<GitOutput>,
): Promise<GitOutput> {
  const write = await writes.begin(gitFolders);
  let isClean = false;
  try {
    const output = await run();
    isClean = output.code < FATAL && output.isCut !== true;
    return output;
  } finally {
    await write.end(isClean);
  }
}

/** Every folder in which this run may make locks. */
function foldersOf({ remote }: GitRun, { gitDir, commonDir }: GitFolders): readonly string[] {
  const repository = remote?.repository;
  return [...new Set([gitDir, commonDir, ...(repository === undefined ? [] : [repository])])];
}

/** Absolute path of the program. Throws E_GIT when there is none. */
export function findGit(workspace: string): string {
  try {
    return resolveProgram('git', { folders: FOLDERS, workspace });
  } catch {
    // The only way to fail is not to be there.
    throw gitFailure('Git is not installed', { reason: 'not_installed', next: 'install git (apt-get install git)' });
  }
}

interface Attempt {
  readonly request: GitRun;
  /** Those to end when the session closes. */
  readonly running: Set<SandboxedProcess>;
}

async function runIn(
  setting: SandboxSetting,
  program: ReadyProgram,
  { request, running }: Attempt,
): Promise<GitOutput> {
  requireUncancelled(request.signal);
  const started = await startSandboxed(setting, program, {
    stdin: request.stdin === undefined ? 'null' : 'pipe',
    stdout: 'pipe',
    stderr: 'pipe',
  });
  running.add(started);
  try {
    return await outputOf(started, request);
  } finally {
    running.delete(started);
  }
}

async function openTalk({ remote, signing }: GitRun, options: TalkOptions): Promise<SshTalk | undefined> {
  if (remote?.ssh !== undefined) return openSshTalk(remote.ssh, options);
  return signing === undefined ? undefined : openSigning(signing.key, options, process.env);
}

function proxyFor({ remote, signal }: GitRun, shared: SessionSandbox): Promise<string | null> | null {
  return remote === undefined || remote.transport === 'local' ? null : shared.proxySocket(signal);
}

function enterSandbox(shared: SessionSandbox, request: GitRun, { folders, proxy, talk }: Omit<Start, 'overrides'>) {
  const writable = request.access === 'write';
  const lent = [request.remote?.folder, talk?.folder].filter((folder) => folder !== undefined);
  return shared.isolation.enter({
    workspace: shared.workspace,
    writable,
    proxySocket: proxy,
    protectedPaths: shared.protectedPaths('git'),
    folders: [...folders.outside.map((one) => ({ ...one, writable })), ...lent],
  });
}

function places({ workspace }: SessionSandbox, { gitDir }: GitFolders): readonly string[] {
  return [`--git-dir=${gitDir}`, `--work-tree=${workspace.path}`];
}

function environment(request: GitRun, { gitDir }: GitFolders, home: string): Record<string, string> {
  return {
    ...fixedEnvironment(home),
    ...(request.index === undefined ? {} : { GIT_INDEX_FILE: `${gitDir}/${request.index}` }),
    ...request.remote?.env,
    ...request.env,
  };
}

function requireUncancelled(signal: AbortSignal | undefined): void {
  if (signal?.aborted === true) throw failure('cancellation', 'retryable', 'Call was cancelled before git started');
}

async function outputOf(started: SandboxedProcess, request: GitRun): Promise<GitOutput> {
  const { process, ended } = started;
  const limit = request.maxBytes ?? MAX_OUTPUT;
  const stdout = collect(process.stdout, limit, () => process.kill('SIGKILL'));
  const stderr = collect(process.stderr, MAX_COMPLAINT, () => {});
  // A git that ends early does not read everything: its exit code says why.
  if (request.stdin !== undefined) process.stdin?.on('error', () => {}).end(request.stdin);
  const end = await ended;
  await Promise.all([stdout.closed, stderr.closed]);
  if (request.signal?.aborted === true) throw request.signal.reason;
  if (stdout.isFull() && request.overflow !== 'cut') throw tooMuch(limit);
  const complaint = stderr.bytes().toString('utf8');
  if (stdout.isFull()) return { code: 0, stdout: stdout.bytes(), stderr: complaint, isCut: true };
  if (end.notStarted !== undefined) throw notStarted(end.notStarted);
  if (end.code === null) throw killed(end.signal ?? 'unknown', complaint);
  return { code: end.code, stdout: stdout.bytes(), stderr: complaint };
}

interface Collected {
  bytes(): Buffer;
  isFull(): boolean;
  readonly closed: Promise<unknown>;
}

function collect(stream: NodeJS.ReadableStream | undefined, limit: number, onFull: () => void): Collected {
  const kept: Buffer[] = [];
  let size = 0;
  let full = false;
  const closed = new Promise<void>((resolve) => {
    if (stream === undefined) return resolve();
    stream.on('data', (chunk: Buffer) => {
      if (full) return;
      const room = limit - size;
      kept.push(chunk.length > room ? chunk.subarray(0, room) : chunk);
      size += Math.min(chunk.length, room);
      if (chunk.length <= room) return;
      full = true;
      onFull();
    });
    stream.once('close', () => resolve());
  });
  return {
    bytes: () => (kept.length === 1 && kept[0] !== undefined ? kept[0] : Buffer.concat(kept)),
    isFull: () => full,
    closed,
  };
}

function tooMuch(limit: number): ToolError {
  return gitFailure(`Git printed more than ${limit} bytes`, {
    reason: 'too_large',
    next: 'ask for less: fewer paths, a smaller range or a limit',
  });
}

function notStarted(reason: string): ToolError {
  return gitFailure('Git could not be started', {
    reason: 'not_started',
    next: 'look at the reason',
    details: { why: reason },
  });
}

function killed(signal: string, complaint: string): ToolError {
  return gitFailure(`Git was ended by a signal: ${signal}`, {
    reason: 'killed',
    next: 'look at what it said, then try again',
    details: { signal, stderr: complaint.slice(0, 2000) },
  });
}
