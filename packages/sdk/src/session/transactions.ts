/** The transactions of one session: opening, joining, expiry and end. */
import { ToolError } from '@tool-runtime/protocol';
import type {
  ClosingTransaction,
  JoinedCall,
  SessionParts,
  SessionTransactions,
  TransactionEnd,
} from '../call/state/session-parts.ts';
import { readOnlyView } from '../call/tool-context/execution-context.ts';
import { commandsOfCommit } from '../call/tool-context/transactions-for.ts';
import type { StagedTree, StagingCommandRunner } from '../contracts/commands.ts';
import { policyDenial } from '../contracts/failures.ts';
import { noCommandsOnCopy, type OpenTransaction } from '../contracts/transactions.ts';
import type { TransactionFiles } from '../platform/state/transaction-files.ts';
import type { RuleSet } from '../policy/rule-set.ts';
import type { OpenStage } from './compile-session.ts';
import { createPathLocks } from './path-locks.ts';
import { StagedTransaction } from './staged-transaction.ts';

const MAX_OPEN = 8;
const MAX_REMEMBERED = 64;
const MINUTE_MS = 60_000;
/** Others see the end of a transaction this exactly: a file for every call would cost more than most calls. */
const LISTED_MS = 1000;

export interface TransactionSetting {
  /** The session's own; asked for when it is complete. */
  parts(): SessionParts;
  openStage(tree: StagedTree): OpenStage;
  /** Tools whose programs see the workspace and not the tree. */
  readonly refused: ReadonlySet<string>;
  readonly files: TransactionFiles;
  /** Whether the session may know of those of other sessions. */
  readonly seesAll: boolean;
}

interface Open {
  readonly transaction: StagedTransaction;
  readonly parts: SessionParts;
  readonly at: number;
  readonly listed: ReturnType<TransactionFiles['open']>;
  release(): Promise<void>;
  running: number;
  /** Called when no call runs any more. */
  onIdle: (() => void) | undefined;
  isClosing: boolean;
  /** A call of it could not be recorded. */
  isUnrecorded: boolean;
  usedAt: number;
  /** When others were told last. */
  listedAt: number;
  timer: NodeJS.Timeout | undefined;
}

export function createTransactions(setting: TransactionSetting): SessionTransactions {
  return new TransactionTable(setting);
}

class TransactionTable implements SessionTransactions {
  readonly #setting: TransactionSetting;
  /** Oldest first. */
  readonly #open = new Map<string, Open>();
  /** Calls that would have joined them are refused until someone has heard of it. */
  readonly #expired = new Set<string>();
  readonly #ended = new Map<string, TransactionEnd>();
  /** Their trees are being made. */
  #opening = 0;
  readonly #releases = new Set<Promise<void>>();
  #isClosed = false;

  constructor(setting: TransactionSetting) {
    this.#setting = setting;
  }

  async begin(signal: AbortSignal): Promise<OpenTransaction> {
    if (this.#open.size + this.#opening >= MAX_OPEN) throw tooMany();
    this.#opening += 1;
    try {
      return await this.#begin(signal);
    } finally {
      this.#opening -= 1;
    }
  }

  async #begin(signal: AbortSignal): Promise<OpenTransaction> {
    const parts = this.#setting.parts();
    const tree = await parts.programs.commands.stage(signal);
    const id = `tx-${parts.newId()}`;
    const at = parts.clock.now();
    const opened = await this.#stage(id, at, tree).catch(async (thrown: unknown) => {
      await tree.release();
      throw thrown;
    });
    if (this.#isClosed) {
      await opened.release();
      throw unknown(id, undefined);
    }
    this.#expired.clear();
    this.#open.set(id, opened);
    this.#touch(opened);
    return this.#tell(opened);
  }

  async #stage(id: string, at: number, tree: StagedTree): Promise<Open> {
    const { parts: own, openStage, refused, files } = this.#setting;
    const real = own();
    requireChecks(tree, real);
    const stage = openStage(tree);
    const changes = stage.changes.keepingOnly((bytes) => isFree(bytes, real));
    const transaction = new StagedTransaction({ id, at, tree, refused, real, staged: { changes } });
    const ast = real.ast?.stage?.({ workspace: readOnlyView(stage.workspace), tree });
    return {
      transaction,
      at,
      parts: {
        ...real,
        workspace: stage.workspace,
        readOnlyWorkspace: readOnlyView(stage.workspace),
        changes,
        programs: { ...real.programs, commands: onTree(real.programs.commands, tree) },
        ast,
        locks: createPathLocks(),
        rules: withoutAfter(real.rules),
        transaction,
      },
      listed: files.open(),
      async release() {
        await ast?.close();
        stage.close();
        await tree.release();
      },
      ...{ running: 0, onIdle: undefined, isClosing: false, isUnrecorded: false, timer: undefined },
      ...{ usedAt: real.clock.monotonic(), listedAt: Number.NEGATIVE_INFINITY },
    };
  }

  join({ tool, txId }: Parameters<SessionTransactions['join']>[0], parts: SessionParts): JoinedCall {
    const isOutside = parts.tools.get(tool)?.tool.inTransaction === 'outside';
    if (isOutside || (txId === undefined && this.#open.size === 0 && this.#expired.size === 0)) return outside(parts);
    this.#expireOld();
    const found = txId === undefined ? this.#newest() : this.#open.get(txId);
    if (found === undefined) return outside({ ...parts, transaction: this.#refusal(txId) });
    let hasEntered = false;
    return {
      parts: found.parts,
      enter: () => {
        const { id } = found.transaction;
        if (this.#open.get(id) !== found) throw this.#refusal(id);
        if (found.isClosing) throw ending(id);
        if (!hasEntered) found.running += 1;
        hasEntered = true;
      },
      leave: (isUnrecorded = false) => {
        found.isUnrecorded ||= isUnrecorded;
        if (hasEntered) this.#leave(found);
      },
    };
  }

  /** What expired last comes before older ones that are still open: the caller meant that one. */
  #newest(): Open | undefined {
    return this.#expired.size > 0 ? undefined : [...this.#open.values()].at(-1);
  }

  #leave(found: Open): void {
    found.running -= 1;
    this.#touch(found);
    if (found.running > 0) return;
    found.onIdle?.();
    // Not with `aborted`: calls that would have joined it must not change real files.
    if (found.isUnrecorded && !found.isClosing) this.#expire(found);
  }

  #expire(found: Open): void {
    const { reportUnexpected } = this.#setting.parts();
    this.#end(found, 'expired').catch((thrown: unknown) => reportUnexpected(asError(thrown)));
  }

  async take(tx_id: string | undefined, signal: AbortSignal): Promise<ClosingTransaction> {
    this.#expireOld();
    const found = tx_id === undefined ? this.#newest() : this.#open.get(tx_id);
    if (found === undefined) throw this.#refusal(tx_id);
    if (found.isClosing) throw ending(found.transaction.id);
    found.isClosing = true;
    const reopen = (): void => {
      found.isClosing = false;
      found.onIdle = undefined;
      this.#touch(found);
    };
    await idle(found, signal).catch((thrown: unknown) => {
      reopen();
      throw thrown;
    });
    const { transaction, parts } = found;
    return {
      id: transaction.id,
      parts,
      get subjects() {
        return transaction.subjects;
      },
      get paths() {
        return transaction.paths;
      },
      plan: (options) => transaction.plan(options),
      end: (how) => this.#end(found, how),
      reopen,
    };
  }

  forget(tx_id: string | undefined): string | undefined {
    this.#expireOld();
    const id = tx_id ?? [...this.#expired].at(-1);
    return id !== undefined && this.#expired.delete(id) ? id : undefined;
  }

  list(): readonly OpenTransaction[] {
    this.#expireOld();
    const { files, seesAll } = this.#setting;
    const own = [...this.#open.values()].map((found) => this.#tell(found));
    if (!seesAll) return own;
    const ids = new Set(own.map(({ tx_id }) => tx_id));
    return [...files.list().filter(({ tx_id }) => !ids.has(tx_id)), ...own].toSorted((a, b) => a.at - b.at);
  }

  async close(): Promise<void> {
    this.#isClosed = true;
    await Promise.all([...this.#open.values()].map((found) => this.#end(found, 'aborted')));
    if (this.#releases.size > 0) await Promise.allSettled([...this.#releases]);
  }

  async #end(found: Open, how: TransactionEnd): Promise<void> {
    const { id } = found.transaction;
    if (!this.#open.delete(id)) return;
    clearTimeout(found.timer);
    if (how === 'expired') this.#expired.add(id);
    this.#ended.set(id, how);
    if (this.#ended.size > MAX_REMEMBERED) this.#ended.delete(this.#ended.keys().next().value ?? '');
    try {
      found.listed.remove();
    } finally {
      const releasing = this.#release(found);
      // What was committed is real: its answer need not wait until the tree is gone. The session's end does.
      if (how !== 'committed') await releasing;
    }
  }

  #release(found: Open): Promise<void> {
    const releasing = found.release().finally(() => this.#releases.delete(releasing));
    this.#releases.add(releasing);
    releasing.catch((thrown: unknown) => this.#setting.parts().reportUnexpected(asError(thrown)));
    return releasing;
  }

  #touch(found: Open): void {
    const { clock } = this.#setting.parts();
    found.usedAt = clock.monotonic();
    if (found.usedAt - found.listedAt >= LISTED_MS) this.#list(found);
    clearTimeout(found.timer);
    found.timer = setTimeout(() => this.#expireOld(), this.#idleMs + 1).unref();
  }

  /** For others to see. A full state folder must not end the call that it is written for. */
  #list(found: Open): void {
    found.listedAt = found.usedAt;
    try {
      found.listed.write(this.#tell(found));
    } catch (thrown) {
      this.#setting.parts().reportUnexpected(asError(thrown));
    }
  }

  get #idleMs(): number {
    return this.#setting.parts().registry.changes.tx_minutes * MINUTE_MS;
  }

  #expireOld(): void {
    const { clock } = this.#setting.parts();
    for (const found of this.#open.values()) {
      const isIdle = found.running === 0 && !found.isClosing;
      if (!isIdle || clock.monotonic() - found.usedAt < this.#idleMs) continue;
      this.#expire(found);
    }
  }

  #tell({ transaction, at, usedAt }: Open): OpenTransaction {
    const { sessionId, actor, clock } = this.#setting.parts();
    const left = this.#idleMs - (clock.monotonic() - usedAt);
    return { tx_id: transaction.id, session_id: sessionId, actor, at, expires_at: Math.round(clock.now() + left) };
  }

  #refusal(tx_id: string | undefined): ToolError {
    const id = tx_id ?? [...this.#expired].at(-1);
    return unknown(id, id === undefined ? undefined : this.#ended.get(id));
  }
}

/** Also the commands of rules see the tree and write there. */
function onTree(commands: StagingCommandRunner, tree: StagedTree): StagingCommandRunner {
  return { ...commands, start: (request) => commands.start({ tree, ...request }) };
}

/** Throws when the checks of a commit could not run on the tree: it is better to know before anything is done. */
function requireChecks({ problem }: StagedTree, parts: SessionParts): void {
  const [name] = problem === undefined ? [] : commandsOfCommit(parts);
  if (problem !== undefined && name !== undefined)
    throw noCommandsOnCopy(`The check commands.${name} of tx_commit`, problem, WITHOUT_CHECKS);
}

const WITHOUT_CHECKS =
  'make the calls without a transaction, or ask the operator for a machine with overlays, or for changes.tx_checks: [] and no rule that runs commands';

function outside(parts: SessionParts): JoinedCall {
  return { parts, enter: () => {}, leave: () => {} };
}

/** Resolves when none of its calls runs. */
async function idle(found: Open, signal: AbortSignal): Promise<void> {
  if (found.running === 0) return;
  const { promise, resolve, reject } = Promise.withResolvers<void>();
  const stop = (): void => reject(signal.reason);
  found.onIdle = resolve;
  signal.addEventListener('abort', stop, { once: true });
  if (signal.aborted) stop();
  try {
    await promise;
  } finally {
    signal.removeEventListener('abort', stop);
  }
}

/** They judge the whole at the end: what is only right together may be made step by step. */
function withoutAfter(rules: RuleSet): RuleSet {
  return {
    ...rules,
    has: (phase) => phase !== 'after' && rules.has(phase),
    applies: (phase, subject) => phase !== 'after' && rules.applies(phase, subject),
  };
}

/** Content with a known secret is not kept. */
function isFree(bytes: Uint8Array, { redactor: { known } }: SessionParts): boolean {
  return known.isEmpty || known.bytes(bytes) === bytes;
}

function asError(thrown: unknown): ToolError {
  return thrown instanceof ToolError
    ? thrown
    : new ToolError('E_INTERNAL', 'Transaction did not end', { cause: thrown });
}

function tooMany(): ToolError {
  return policyDenial(`Session has as many open transactions as it may have: ${MAX_OPEN}`, {
    details: {
      gate: 'transaction',
      reason: 'too_many_transactions',
      limit: MAX_OPEN,
      next: 'tx_commit or tx_abort one',
    },
  });
}

function ending(id: string): ToolError {
  return new ToolError('E_VALIDATION_FAIL', `Transaction is being ended by another call: ${id}`, {
    path: 'tx_id',
    details: { gate: 'transaction', reason: 'tx_ending', tx_id: id, next: 'wait for that call' },
  });
}

function unknown(id: string | undefined, how: TransactionEnd | undefined): ToolError {
  const message =
    id === undefined
      ? 'Session has no open transaction'
      : how === undefined
        ? `No such transaction in this session: ${id}`
        : `Transaction is over: ${id} is ${how}`;
  return new ToolError('E_VALIDATION_FAIL', message, {
    path: 'tx_id',
    details: {
      gate: 'transaction',
      reason: how === undefined ? 'unknown_tx' : `tx_${how}`,
      ...(id === undefined ? {} : { tx_id: id }),
      next:
        how === 'expired'
          ? 'nothing of it became real; tx_abort to go on without it, or tx_begin and make the changes again'
          : 'tx_begin opens one; a child session cannot use a transaction of its parent',
    },
  });
}
