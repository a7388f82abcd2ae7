/** What a running tool is given: capabilities bound to its call, nothing that reaches past the policy. */
import { type ErrorEntry, type JsonObject, ToolError } from '@tool-runtime/protocol';
import type { ChangeHistory } from '../../changes/change-set.ts';
import { sideEffectRank } from '../../contracts/annotations.ts';
import type { ArtifactStore } from '../../contracts/artifacts.ts';
import type { AstIndex } from '../../contracts/ast.ts';
import type { AskClient } from '../../contracts/client-port.ts';
import type { CommandList } from '../../contracts/command-list.ts';
import type { CommandRequest, CommandRunner, ProgramEffects } from '../../contracts/commands.ts';
import { policyDenial } from '../../contracts/failures.ts';
import type { CommitCandidate, GitRepository, Publication } from '../../contracts/git.ts';
import type { HttpClient } from '../../contracts/http.ts';
import type { JobTable } from '../../contracts/jobs.ts';
import type { ByteFilter } from '../../contracts/redaction.ts';
import type { Registry } from '../../contracts/registry.ts';
import type { Validation } from '../../contracts/rule.ts';
import type { SessionMetrics, TraceContext } from '../../contracts/telemetry.ts';
import type { ToolContext } from '../../contracts/tool.ts';
import type { Transactions } from '../../contracts/transactions.ts';
import { type FileChange, readingPart, type Workspace } from '../../contracts/workspace.ts';
import { fromOutermost } from '../../policy/declared-paths.ts';
import { redactingArtifacts } from '../../redaction/redacting-ports.ts';
import type { GatedCall, OpenCall } from '../state/call-types.ts';
import type { ChangeLog, Grant } from '../state/change-log.ts';
import { endingWith, granted, lookOnly, reporting, withoutRemotes } from '../state/git-view.ts';
import type { SessionParts } from '../state/session-parts.ts';
import { announceProgress } from '../state/trail.ts';
import { historyFor } from './change-history.ts';
import { commandKeeper, effectsOf, stagedRequest } from './command-keeper.ts';
import { createValidation } from './create-validation.ts';
import { type HeldCommands, heldCommands } from './held-commands.ts';
import { isHeld, requireGranted } from './permissions.ts';
import { refusingMasks } from './refuse-masks.ts';
import { transactionsFor } from './transactions-for.ts';
import { writeTogether } from './write-together.ts';

/** Nothing else is passed on: other forms are not a trace context. */
const TRACEPARENT = /^(?!ff)[0-9a-f]{2}-[0-9a-f]{32}-[0-9a-f]{16}-[0-9a-f]{2}$/;

const READS = sideEffectRank('read_only');
const WRITES = sideEffectRank('workspace_write');
const STARTS = sideEffectRank('process_exec');
const CONNECTS = sideEffectRank('network');

/** What calls get whose tool did not declare that it talks to the network. */
export const NO_NETWORK: HttpClient = {
  send: () =>
    Promise.reject(
      policyDenial('This call may not use the network', {
        details: { gate: 'http', next: 'declare side_effect_level network in the annotations of the tool' },
      }),
    ),
};

/** What calls get whose tool did not declare that it starts processes. */
export const NO_COMMANDS: CommandRunner = {
  start: () =>
    Promise.reject(
      policyDenial('This call may not start processes', {
        details: { gate: 'commands', next: 'declare side_effect_level process_exec in the annotations of the tool' },
      }),
    ),
};

/** Methods are bound, because tools take the context apart: `run(args, { workspace, progress })`. */
export class CallContext implements ToolContext {
  readonly callId: string;
  readonly sessionId: string;
  readonly limitMs: number;
  readonly registry: Registry;
  readonly workspace: Workspace;
  readonly http: HttpClient;
  readonly commands: CommandRunner;
  /** Of a call that runs before it is approved. */
  readonly held: HeldCommands | undefined;
  readonly candidate: CommitCandidate | undefined;
  readonly publication: Publication | undefined;
  readonly jobs: JobTable;
  readonly progress: (pct: number, message: string, data?: JsonObject) => void;
  readonly warn: (entry: ErrorEntry) => void;
  readonly redact: (text: string) => string;
  readonly redactCommand: (command: string | readonly string[]) => string;
  readonly redactOutput: () => ByteFilter;
  readonly masked: (count: number) => void;
  readonly changed: (change: FileChange) => void;
  readonly aboutToChange: (paths: readonly string[], recovery: string) => Promise<void>;
  readonly record: (facts: JsonObject) => void;
  facts: JsonObject | undefined;
  effect: JsonObject | undefined;
  readonly #call: GatedCall;
  readonly #grant: Grant;
  readonly #parts: SessionParts;
  #git: GitRepository | undefined;
  readonly #level: number;
  readonly #log: ChangeLog;

  constructor(call: GatedCall, { log, grant }: { log: ChangeLog; grant: Grant }, parts: SessionParts) {
    const { open } = call;
    this.#call = call;
    this.#log = log;
    this.#grant = grant;
    this.callId = open.callId;
    this.sessionId = open.sessionId;
    this.limitMs = call.limitMs;
    this.registry = parts.registry;
    const isWaiting = call.verdict === 'ask' && isHeld(call, parts);
    const level = isWaiting ? READS : sideEffectRank(call.subject.profile.side_effect_level);
    this.#level = level;
    this.held = isWaiting ? heldUnder(call, { log, grant }, parts) : undefined;
    this.http = level >= CONNECTS ? { send: (request) => grant.use(() => parts.http.send(request)) } : NO_NETWORK;
    this.commands = this.held ?? (level >= STARTS ? commandsUnder(call, { log, grant }, parts) : NO_COMMANDS);
    this.candidate = call.candidate;
    this.publication = call.publication;
    this.#parts = parts;
    this.jobs = parts.jobs;
    this.workspace =
      level >= WRITES
        ? refusingMasks(this.#writable(log.tracked(grant.workspace(call.workspace))), parts.redactor, open)
        : readersWorkspace(call, parts);
    // What a command prints is not for its caller before it is approved.
    this.progress = isWaiting
      ? () => {}
      : (pct, message, data) => announceProgress(open, { pct, message, data }, parts);
    this.warn = (entry) => open.warnings.push(entry);
    this.redact = (text) => parts.redactor.known.text(text, open.masks);
    this.redactCommand = (command) => parts.redactor.redactCommand(command);
    this.redactOutput = () => parts.redactor.known.stream(open.masks);
    this.masked = (count) => {
      open.masks.masked += count;
    };
    this.changed = (change) => log.changes.push(change);
    this.aboutToChange = (paths, recovery) => log.watch(paths, recovery);
    this.record = (facts) => {
      this.facts = { ...this.facts, ...facts };
    };
  }

  /** Several files at once go through one commit. */
  #writable(tracked: Workspace): Workspace {
    const workspace = withDeletion(tracked, this.#call, this.#parts);
    const { locate } = this.#parts.workspace;
    return {
      ...workspace,
      writeAll: (files, { isRestored } = {}) =>
        writeTogether(files, { workspace, history: this.history, locate, isRestored }),
    };
  }

  get signal(): AbortSignal {
    return this.#call.open.signal();
  }

  /** Made on first use, like `validation`: most calls have nothing to do with git. */
  get git(): GitRepository {
    this.#git ??= gitFor(
      this.#level,
      granted(
        endingWith(reporting(this.#parts.programs.git, this.warn), () => this.signal),
        this.#grant,
      ),
    );
    return this.#git;
  }

  get history(): ChangeHistory {
    return historyFor(this.#call, { log: this.#log, grant: this.#grant });
  }

  /** Programs of other tools see the whole workspace. */
  get effects(): ProgramEffects | undefined {
    const { effects: mode } = this.registry;
    if (mode === 'direct' || this.#level < STARTS) return undefined;
    return { mode, keeper: commandKeeper(this.#call, this.history, this.#parts, '.') };
  }

  get transactions(): Transactions {
    return transactionsFor(this.#call, { log: this.#log, grant: this.#grant }, this.#parts);
  }

  get ast(): AstIndex | undefined {
    return this.#parts.ast;
  }

  get artifacts(): ArtifactStore {
    return countingArtifacts(this.#call.open, this.#parts);
  }

  get command(): CommandList | undefined {
    return this.#call.subject.commands[0]?.list();
  }

  get trace(): TraceContext | undefined {
    const { span, request } = this.#call.open;
    if (span?.context !== undefined) return span.context;
    const { traceparent, tracestate } = request;
    if (traceparent === undefined || !TRACEPARENT.test(traceparent)) return undefined;
    return { traceparent, ...(tracestate === undefined ? {} : { tracestate }) };
  }

  get askClient(): AskClient | undefined {
    return this.#call.open.request.askClient;
  }

  get validation(): Validation {
    return createValidation(this.#call.open, this.#parts);
  }

  get metrics(): SessionMetrics {
    const { sessionId, reporter } = this.#parts;
    const { progress, request } = this.#call.open;
    return {
      report: (intervalMs) =>
        reporter.report({ requestId: progress.ended ? sessionId : request.requestId, intervalMs }),
    };
  }
}

function readersWorkspace({ pathRule, workspace }: GatedCall, { readOnlyWorkspace }: SessionParts): Workspace {
  return pathRule === undefined ? readOnlyWorkspace : readOnlyView(workspace);
}

/** A tool that learns while it runs that it must delete needs the permission too; asking is no longer possible then. */
function withDeletion(workspace: Workspace, call: GatedCall, parts: SessionParts): Workspace {
  return {
    ...workspace,
    requireAllowed(path, access, links) {
      if (access === 'delete') requireGranted(call, { workspace: ['delete'] }, parts);
      workspace.requireAllowed(path, access, links);
    },
  };
}

/**
 * The folder a command starts in is checked again once the runner has found it. What it writes becomes real as the
 * registry says, or later where the call asks for that.
 */
function commandsUnder(
  call: GatedCall,
  { log, grant }: { readonly log: ChangeLog; readonly grant: Grant },
  parts: SessionParts,
): CommandRunner {
  const { registry, transaction } = parts;
  const runner = runnerUnder(call, grant, parts);
  const kept = (request: CommandRequest): CommandRequest => {
    if (transaction !== undefined && !(transaction instanceof ToolError))
      return stagedRequest(request, transaction, { call, log, parts });
    const effects = effectsOf(registry.effects, request);
    return effects === 'direct'
      ? request
      : { ...request, effects, keeper: commandKeeper(call, historyFor(call, { log, grant }), parts) };
  };
  return { start: (request) => runner.start(kept(request)) };
}

/** The rule of the call for the folder, and its end. */
function runnerUnder({ pathRule }: GatedCall, grant: Grant, { programs, folderPrefix }: SessionParts): CommandRunner {
  const judged = (request: CommandRequest): CommandRequest => ({
    ...request,
    requireFolder(folder) {
      const [path, location] = [request.cwd, folder].map((one) => fromOutermost(folderPrefix, one));
      pathRule?.check({ path: path ?? '', location: location ?? '', access: 'read' });
    },
  });
  return {
    start: (request) => grant.use(() => programs.commands.start(pathRule === undefined ? request : judged(request))),
  };
}

/** What it commits is approved by then. */
function heldUnder(
  call: GatedCall,
  { log, grant }: { readonly log: ChangeLog; readonly grant: Grant },
  parts: SessionParts,
): HeldCommands {
  const history = historyFor({ ...call, verdict: 'allow' }, { log, grant });
  return heldCommands(call, history, { parts, runner: runnerUnder(call, grant, parts) });
}

/** The session's store masks anyway; here the call learns how often. */
function countingArtifacts({ masks }: OpenCall, { artifacts, redactor }: SessionParts): ArtifactStore {
  return redactor.known.isEmpty ? artifacts : redactingArtifacts(artifacts, redactor, masks);
}

/** What the call's level allows. */
function gitFor(level: number, git: GitRepository): GitRepository {
  if (level < WRITES) return lookOnly(git);
  return level < CONNECTS ? withoutRemotes(git) : git;
}

/** A view that cannot write, whatever the tool tries. */
export function readOnlyView(workspace: Workspace): Workspace {
  const refuse = (path: string): never => {
    throw policyDenial(`This call may only read: ${path}`, {
      path,
      details: { gate: 'workspace', next: 'declare side_effect_level workspace_write in the annotations of the tool' },
    });
  };
  return {
    ...readingPart(workspace),
    writeFile: refuse,
    removeFile: refuse,
    makeDirectory: refuse,
    move: refuse,
    copy: refuse,
    remove: refuse,
  };
}
