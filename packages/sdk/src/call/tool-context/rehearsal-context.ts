/** What a tool may touch while it is rehearsed: it can look at everything, changes nothing and announces nothing. */
import type { ChangeHistory } from '../../changes/change-set.ts';
import type { ArtifactStore } from '../../contracts/artifacts.ts';
import type { AstIndex } from '../../contracts/ast.ts';
import type { GitRepository } from '../../contracts/git.ts';
import type { JobTable } from '../../contracts/jobs.ts';
import type { Registry } from '../../contracts/registry.ts';
import type { ExpectedChange } from '../../contracts/rehearsal.ts';
import type { Validation } from '../../contracts/rule.ts';
import type { SessionMetrics } from '../../contracts/telemetry.ts';
import type { RehearsalContext } from '../../contracts/tool.ts';
import type { Transactions } from '../../contracts/transactions.ts';
import type { Workspace } from '../../contracts/workspace.ts';
import type { JudgedCall } from '../state/call-types.ts';
import { endingWith, lookOnly } from '../state/git-view.ts';
import type { SessionParts } from '../state/session-parts.ts';
import { createValidation } from './create-validation.ts';
import { NO_COMMANDS, NO_NETWORK, readOnlyView } from './execution-context.ts';
import { rehearseCommit } from './rehearse-commit.ts';
import { rehearsedWorkspace, type WatchWrites } from './rehearsed-workspace.ts';

const IGNORE = (): void => {};

export class RehearsedCall implements RehearsalContext {
  readonly changes: ExpectedChange[] = [];
  readonly callId: string;
  readonly sessionId: string;
  readonly registry: Registry;
  readonly workspace: Workspace;
  readonly http = NO_NETWORK;
  readonly commands = NO_COMMANDS;
  readonly command = undefined;
  readonly effects = undefined;
  readonly candidate = undefined;
  readonly publication = undefined;
  readonly trace = undefined;
  readonly askClient = undefined;
  readonly signal: AbortSignal;
  readonly limitMs: number;
  readonly progress = IGNORE;
  readonly warn = IGNORE;
  readonly changed = IGNORE;
  readonly record = IGNORE;
  readonly aboutToChange = async (): Promise<void> => {};
  readonly masked = IGNORE;
  readonly redact: (text: string) => string;
  readonly redactCommand: RehearsalContext['redactCommand'];
  readonly redactOutput: RehearsalContext['redactOutput'];
  readonly expect = (change: ExpectedChange): void => void this.changes.push(change);
  readonly #call: JudgedCall;
  readonly #parts: SessionParts;

  constructor(call: JudgedCall, parts: SessionParts, watch?: WatchWrites) {
    this.#call = call;
    this.#parts = parts;
    this.callId = call.open.callId;
    this.sessionId = call.open.sessionId;
    this.registry = parts.registry;
    this.workspace = rehearsedWorkspace(readOnlyView(call.workspace), this.expect, watch);
    this.signal = call.open.signal();
    this.limitMs = call.limitMs;
    this.redact = (text) => parts.redactor.known.text(text);
    this.redactCommand = (command) => parts.redactor.redactCommand(command);
    this.redactOutput = () => parts.redactor.known.stream();
  }

  get git(): GitRepository {
    return lookOnly(endingWith(this.#parts.programs.git, this.#call.open.signal));
  }

  get validation(): Validation {
    return createValidation(this.#call.open, this.#parts);
  }

  get history(): ChangeHistory {
    throw notWhileRehearsed('history');
  }

  /** Only a commit can be rehearsed: what it would make real is known. */
  get transactions(): Transactions {
    return {
      commit: (tx_id) => rehearseCommit(tx_id, { call: this.#call, parts: this.#parts, expect: this.expect }),
      begin: () => Promise.reject(notWhileRehearsed('transactions')),
      abort: () => Promise.reject(notWhileRehearsed('transactions')),
      list: () => this.#parts.transactions.list(),
    };
  }

  get ast(): AstIndex | undefined {
    return this.#parts.ast;
  }

  get jobs(): JobTable {
    throw notWhileRehearsed('jobs');
  }

  get artifacts(): ArtifactStore {
    throw notWhileRehearsed('artifacts');
  }

  get metrics(): SessionMetrics {
    throw notWhileRehearsed('metrics');
  }
}

function notWhileRehearsed(what: string): TypeError {
  return new TypeError(`A rehearsal has no ${what}`);
}
