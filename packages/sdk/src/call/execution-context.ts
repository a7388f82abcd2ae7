/** What a running tool is handed: capabilities bound to its call, nothing that reaches past the policy. */
import { type ErrorEntry, type JsonObject, ToolError } from '@tool-runtime/protocol';
import { sideEffectRank } from '../contracts/annotations.ts';
import type { ArtifactStore } from '../contracts/artifacts.ts';
import type { AskClient } from '../contracts/client-port.ts';
import type { CommandRunner } from '../contracts/commands.ts';
import type { CommitCandidate, GitRepository } from '../contracts/git.ts';
import type { HttpClient } from '../contracts/http.ts';
import type { JobTable } from '../contracts/jobs.ts';
import type { SessionMetrics } from '../contracts/metrics.ts';
import type { Registry } from '../contracts/registry.ts';
import type { Validation } from '../contracts/validation.ts';
import type { FileChange, Workspace } from '../contracts/workspace.ts';
import { announceProgress } from './call-events.ts';
import type { GatedCall } from './call-types.ts';
import type { ChangeLog } from './change-log.ts';
import { createValidation } from './create-validation.ts';
import { lookOnly, withoutRemotes } from './git-view.ts';
import type { ExecutionContext, SessionParts } from './session-parts.ts';

const WRITES = sideEffectRank('workspace_write');
const STARTS = sideEffectRank('process_exec');
const CONNECTS = sideEffectRank('network');

/** What calls get whose tool did not declare that it talks to the network. */
export const NO_NETWORK: HttpClient = {
  send: () =>
    Promise.reject(
      new ToolError('E_POLICY', 'This call may not use the network', {
        details: { gate: 'http', next: 'declare side_effect_level network in the annotations of the tool' },
      }),
    ),
};

/** What calls get whose tool did not declare that it starts processes. */
export const NO_COMMANDS: CommandRunner = {
  start: () =>
    Promise.reject(
      new ToolError('E_POLICY', 'This call may not start processes', {
        details: { gate: 'commands', next: 'declare side_effect_level process_exec in the annotations of the tool' },
      }),
    ),
};

/** Methods are bound, because tools take the context apart: `run(args, { workspace, progress })`. */
export class CallContext implements ExecutionContext {
  readonly callId: string;
  readonly sessionId: string;
  readonly args: JsonObject;
  readonly registry: Registry;
  readonly workspace: Workspace;
  readonly http: HttpClient;
  readonly commands: CommandRunner;
  readonly candidate: CommitCandidate | undefined;
  readonly jobs: JobTable;
  readonly artifacts: ArtifactStore;
  readonly progress: (pct: number, message: string, data?: JsonObject) => void;
  readonly warn: (entry: ErrorEntry) => void;
  readonly redact: (text: string) => string;
  readonly changed: (change: FileChange) => void;
  readonly record: (facts: JsonObject) => void;
  readonly respond: (data: unknown) => void;
  /** What the tool delivered, once it has. */
  delivered: unknown;
  facts: JsonObject | undefined;
  readonly #call: GatedCall;
  readonly #parts: SessionParts;
  #git: GitRepository | undefined;

  constructor(call: GatedCall, log: ChangeLog, parts: SessionParts) {
    const { open } = call;
    this.#call = call;
    this.callId = open.callId;
    this.sessionId = open.sessionId;
    this.args = call.args;
    this.registry = parts.registry;
    const level = sideEffectRank(call.view.profile.side_effect_level);
    this.http = level >= CONNECTS ? parts.http : NO_NETWORK;
    this.commands = level >= STARTS ? parts.programs.commands : NO_COMMANDS;
    this.candidate = call.candidate;
    this.#parts = parts;
    this.jobs = parts.jobs;
    this.artifacts = parts.artifacts;
    this.workspace = level >= WRITES ? log.tracked() : parts.readOnlyWorkspace;
    this.progress = (pct, message, data) => announceProgress(open, { pct, message, data }, parts);
    this.warn = (entry) => open.warnings.push(entry);
    this.redact = parts.redact;
    this.changed = (change) => log.changes.push(change);
    this.record = (facts) => {
      this.facts = { ...this.facts, ...facts };
    };
    this.respond = (data) => {
      this.delivered = data;
    };
  }

  get signal(): AbortSignal {
    return this.#call.open.signal();
  }

  /** Made on first use, like `validation`: most calls have nothing to do with git. */
  get git(): GitRepository {
    const level = sideEffectRank(this.#call.view.profile.side_effect_level);
    this.#git ??= gitFor(level, this.#parts.programs.git, () => this.signal);
    return this.#git;
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

/** What the call's level allows, ended with the call unless a run brings a signal of its own. */
function gitFor(level: number, git: GitRepository, signal: () => AbortSignal): GitRepository {
  const bound: GitRepository = {
    run: (request) => git.run({ signal: signal(), ...request }),
    config: () => git.config(),
    identity: () => git.identity(),
    remote: (name, purpose) => git.remote(name, purpose),
    files: git.files,
  };
  if (level < WRITES) return lookOnly(bound);
  return level < CONNECTS ? withoutRemotes(bound) : bound;
}

/** A view that cannot write, whatever the tool tries. */
export function readOnlyView(workspace: Workspace): Workspace {
  const refuse = (path: string): never => {
    throw new ToolError('E_POLICY', `This call may only read: ${path}`, {
      path,
      details: { gate: 'workspace', next: 'declare side_effect_level workspace_write in the annotations of the tool' },
    });
  };
  return {
    stat: (path) => workspace.stat(path),
    readFile: (path, options) => workspace.readFile(path, options),
    readDirectory: (path) => workspace.readDirectory(path),
    list: (query) => workspace.list(query),
    search: (query) => workspace.search(query),
    lockKeys: (path) => workspace.lockKeys(path),
    writeFile: refuse,
    removeFile: refuse,
    makeDirectory: refuse,
    move: refuse,
    copy: refuse,
    remove: refuse,
  };
}
