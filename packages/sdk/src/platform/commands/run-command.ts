/** A command list on its way: one pipeline after the other, by the rules of the shell, until it is done or stopped. */
import { constants } from 'node:os';
import type { Writable } from 'node:stream';
import { type ErrorEntry, ToolError } from '@tool-runtime/protocol';
import { safeText } from '@tool-runtime/protocol/internal';
import type { CommandOutcome, CommandRequest, ProcessEnd, RunningCommand } from '../../contracts/commands.ts';
import type { ByteFilter } from '../../contracts/redaction.ts';
import { nextPipeline } from '../../shell/next-pipeline.ts';
import { OutputCapture } from '../processes/output-capture.ts';
import { isListening } from '../processes/process-list.ts';
import type { InputSource } from '../processes/spawned-process.ts';
import { notStarted, type ReadyProgram, type SandboxSetting } from '../sandbox/sandboxed-process.ts';
import { findOutside } from './program-place.ts';
import { type RunningPipeline, startPipeline } from './run-pipeline.ts';

export interface CommandPlan extends SandboxSetting {
  readonly request: CommandRequest;
  /** The programs of each pipeline of the list. */
  readonly programs: readonly (readonly ReadyProgram[])[];
  readonly networkEnforced: boolean;
  onBackground?(): void;
}

const KILLED: ProcessEnd = { code: null, signal: 'SIGKILL' };
const FOLDED = 128;
const NOTHING = new Uint8Array(0);

/** Answers when the first pipeline runs. Input goes to that one; later ones find theirs at the end. Throws E_SHELL. */
export async function runCommand(plan: CommandPlan): Promise<RunningCommand> {
  const run = new CommandRun(plan);
  await run.startFirst();
  return run;
}

class CommandRun implements RunningCommand {
  readonly #plan: CommandPlan;
  readonly #captures: Readonly<Record<'stdout' | 'stderr', OutputCapture>>;
  readonly #filters: Readonly<Record<'stdout' | 'stderr', ByteFilter>> | undefined;
  readonly #stop = new AbortController();
  readonly #done = Promise.withResolvers<CommandOutcome>();
  #pipeline: RunningPipeline | undefined;
  #stdin: Writable | undefined;
  /** Thrown by the listener of the output. */
  #listenerFault: unknown;

  constructor(plan: CommandPlan) {
    this.#plan = plan;
    const { maxOutputBytes, filter } = plan.request;
    this.#filters = filter && { stdout: filter(), stderr: filter() };
    this.#captures = { stdout: new OutputCapture(maxOutputBytes), stderr: new OutputCapture(maxOutputBytes) };
    // A caller that only stops a command never looks at its outcome.
    this.#done.promise.catch(() => {});
  }

  get done(): Promise<CommandOutcome> {
    return this.#done.promise;
  }

  get pids(): readonly number[] {
    return this.#pipeline?.pids ?? [];
  }

  async startFirst(): Promise<void> {
    const { stdin, signal } = this.#plan.request;
    signal?.addEventListener('abort', this.#kill, { once: true });
    try {
      this.#pipeline = await this.#start(0, stdin === null ? 'null' : 'pipe');
    } catch (thrown) {
      this.#leave();
      throw thrown;
    }
    this.#stdin = this.#pipeline.stdin;
    if (stdin instanceof Uint8Array) this.#stdin?.end(stdin);
    this.#runOn(this.#pipeline).then(this.#done.resolve, this.#done.reject);
  }

  write(bytes: Uint8Array): Promise<void> {
    return new Promise((resolve, reject) => {
      if (this.#stdin === undefined) reject(noReader());
      else this.#stdin.write(bytes, (fault) => (fault ? reject(noReader(fault)) : resolve()));
    });
  }

  endInput(): void {
    this.#stdin?.end();
  }

  isListening(port: number): boolean {
    return isListening(this.pids, port);
  }

  toBackground(): void {
    this.#plan.onBackground?.();
  }

  async stop(): Promise<void> {
    this.#kill();
    await this.done.catch(() => {});
  }

  readonly #kill = (): void => {
    this.#stop.abort();
  };

  #start(index: number, stdin: InputSource): Promise<RunningPipeline> {
    const { spawner, sandbox, programs } = this.#plan;
    const setting = { spawner, sandbox, onOutput: this.#onOutput, stop: this.#stop.signal };
    return startPipeline(programs[index] ?? [], stdin, setting);
  }

  async #runOn(first: RunningPipeline): Promise<CommandOutcome> {
    const { list } = this.#plan.request;
    const codes: number[] = [];
    try {
      let index = 0;
      let end = await first.ended;
      for (;;) {
        if (this.#listenerFault !== undefined) throw this.#listenerFault;
        if (this.#stop.signal.aborted) return this.#outcome(KILLED, this.#leave());
        if (end.notStarted !== undefined) throw this.#neverRan(index, end.notStarted);
        codes.push(shellCode(end));
        const next = nextPipeline(list, codes);
        if (next === undefined) return this.#outcome(end, this.#leave());
        index = next;
        this.#pipeline = await this.#start(index, 'null');
        end = await this.#pipeline.ended;
      }
    } catch (thrown) {
      this.#leave();
      throw thrown;
    }
  }

  readonly #onOutput = (stream: 'stdout' | 'stderr', chunk: Uint8Array): void => {
    this.#pass(stream, this.#filters?.[stream].push(chunk) ?? chunk);
  };

  #pass(stream: 'stdout' | 'stderr', chunk: Uint8Array): void {
    if (chunk.length === 0) return;
    this.#captures[stream].add(chunk);
    try {
      this.#plan.request.onOutput?.(stream, chunk);
    } catch (thrown) {
      this.#listenerFault ??= thrown;
      this.#kill();
    }
  }

  #leave(): readonly string[] {
    this.#pipeline = undefined;
    this.#plan.request.signal?.removeEventListener('abort', this.#kill);
    return this.#plan.sandbox.leave();
  }

  #outcome({ code, signal }: ProcessEnd, quarantined: readonly string[]): CommandOutcome {
    for (const stream of ['stdout', 'stderr'] as const) this.#pass(stream, this.#filters?.[stream].end() ?? NOTHING);
    if (this.#listenerFault !== undefined) throw this.#listenerFault;
    const { networkEnforced, request } = this.#plan;
    const [stdout, stderr] = [this.#captures.stdout.finish(), this.#captures.stderr.finish()];
    const isOffline = networkEnforced && !request.network;
    const wasStopped = this.#stop.signal.aborted;
    const hints = outcomeHints({ code, wasStopped, isOffline, printed: [stderr.text, stdout.text] });
    return {
      code,
      signal,
      stdout,
      stderr,
      networkEnforced,
      ...(hints.length === 0 ? {} : { hints }),
      ...(quarantined.length === 0 ? {} : { quarantined }),
    };
  }

  /** The sandbox's own complaint is on the error output, where the program's would have been. */
  #neverRan(index: number, reason: string): ToolError {
    const complaint = /^bwrap: .*$/m.exec(this.#captures.stderr.finish().text)?.[0];
    return notStarted(this.#plan.programs[index]?.[0]?.name ?? '', complaint?.slice(0, 300) ?? reason);
  }
}

/** What `&&` and `||` look at. */
function shellCode({ code, signal }: ProcessEnd): number {
  if (code !== null) return code;
  return FOLDED + (constants.signals[signal as NodeJS.Signals] ?? 0);
}

function noReader(cause?: unknown): ToolError {
  return new ToolError('E_SHELL', 'Command reads no input', {
    details: { reason: 'no_reader', next: 'poll it: it may have ended' },
    ...(cause === undefined ? {} : { cause }),
  });
}

interface EndedCommand {
  /** Null when it was stopped or a signal ended it. */
  readonly code: number | null;
  /** Its time was over, or its caller gave up. */
  readonly wasStopped: boolean;
  /** It had no network, and the sandbox saw to that. */
  readonly isOffline: boolean;
  readonly printed: readonly string[];
}

/** What resolvers, connections and package managers say without a network. */
const NO_NETWORK =
  /\b(?:EAI_AGAIN|ENOTFOUND|ENETUNREACH|EHOSTUNREACH|ENETDOWN|ENOTCACHED|ERR_PNPM_NO_OFFLINE_\w+)\b|could not resolve|temporary failure in name resolution|name or service not known|network is unreachable|no matching distribution found|failed to (?:download|fetch)|offline mode|--offline|GOPROXY=off|network access is disabled|network connectivity is disabled|requests can't be made/i;

/** Git's words where it cannot write into a repository that is mounted read-only. */
const READ_ONLY_GIT = /\.git\b.*: Read-only file system/i;
const MISSING_PROGRAM = /(?:^|[\s:])([A-Za-z0-9_][\w.+-]{0,60}): (?:command )?not found\s*$/gm;
const MAX_PROGRAMS = 3;
/** Messages of interest are at the end. */
const LOOKED_AT = 64 * 1024;

/** What the reader of a failed command should know and its output does not say. */
function outcomeHints(ended: EndedCommand): readonly ErrorEntry[] {
  if (ended.code === 0) return [];
  const printed = ended.printed.map((text) => text.slice(-LOOKED_AT));
  return [...networkHint(ended, printed), ...gitHint(printed), ...programHints(printed)];
}

function networkHint({ wasStopped, isOffline }: EndedCommand, printed: readonly string[]): readonly ErrorEntry[] {
  if (!isOffline || !(wasStopped || printed.some((text) => NO_NETWORK.test(text)))) return [];
  return [
    {
      code: 'E_SHELL',
      message: wasStopped
        ? 'Command had no network, in case it waited for one'
        : 'Command had no network, which is what it seems to have missed',
      details: {
        reason: 'network_off',
        next: 'call again with allow_network: true; the registry lists the hosts in network.allowed_domains',
      },
    },
  ];
}

function gitHint(printed: readonly string[]): readonly ErrorEntry[] {
  if (!printed.some((text) => READ_ONLY_GIT.test(text))) return [];
  return [
    {
      code: 'E_SHELL',
      message: 'Commands cannot change the repository: .git is read-only in the sandbox',
      details: {
        reason: 'git_read_only',
        next: 'use the git tools: git_add, git_commit, git_restore, git_checkout, git_merge, git_stash and others (tool_search finds them)',
      },
    },
  ];
}

/** A shell inside the sandbox only knows that it does not see a program. */
function programHints(printed: readonly string[]): readonly ErrorEntry[] {
  const names = printed.flatMap((text) => [...text.matchAll(MISSING_PROGRAM)].map((match) => match[1] ?? ''));
  return [...new Set(names)].slice(0, MAX_PROGRAMS).flatMap((name): ErrorEntry[] => {
    const outside = findOutside(name);
    if (outside === undefined) return [];
    const message = `Program is outside the sandbox: ${name} (found at ${safeText(outside.found, 200)})`;
    return [{ code: 'E_SHELL', message, details: { reason: 'outside_sandbox', next: outside.next } }];
  });
}
