/**
 * Every write of a journal, in order, without ever waiting for another process inside the event loop.
 *
 * SQLite is asked once per try and never sleeps. While another process holds the write lock, writes stay in this queue and
 * are tried again on a timer. After the limit they fail, and so does each later one until the lock is free, so that no caller
 * waits for a stopped process. A write that records what has already happened is kept until it is stored or the journal
 * is closed: its caller may give up, the record must not.
 *
 * Records appended in one turn of the event loop share a block: the first schedules the commit for when all promises of
 * the turn have settled, so that calls which began together are stored together however many steps each takes. Changes of
 * rows that come with records share a transaction in the same way; where one of them fails, each is made by itself.
 */
import { failure } from '../../contracts/failures.ts';
import type { MaybePromise } from '../../contracts/workspace.ts';
import type { PreparedRecords } from './block-log.ts';
import type { BlockWriter } from './block-writer.ts';
import { isBusy } from './sqlite-failure.ts';

const FIRST_PAUSE_MS = 1;
const LONGEST_PAUSE_MS = 50;
/** After a longer time without a try, the lock counts as a new one. */
const SAME_LOCK_MS = 1000;

/** Changes rows in the transaction that stores the records; done anew after that was undone. */
export type RowChange = () => {
  readonly result: unknown;
  /** False: the records are left out. */
  readonly isStored: boolean;
};

interface Entry {
  /** Records that may share a block with their neighbours; without them `work` runs alone. */
  readonly prepared?: PreparedRecords;
  readonly change?: RowChange;
  readonly work?: () => unknown;
  readonly isKept: boolean;
  readonly done: PromiseWithResolvers<unknown>;
  /** Its group has failed because of one of them. */
  isAlone?: boolean;
}

export interface WriteOptions {
  /** It records what has happened: it does not fail because the journal is busy for long. */
  readonly isKept?: boolean;
}

interface AppendOptions extends WriteOptions {
  readonly change?: RowChange;
}

type QueueWriter = Pick<BlockWriter, 'write' | 'exclusively' | 'checkpointIfDue'>;

export class WriteQueue {
  readonly #writer: QueueWriter;
  readonly #limitMs: number;
  readonly #waiting: Entry[] = [];
  #isScheduled = false;
  #isWriting = false;
  #isEnding = false;
  #retry: NodeJS.Timeout | undefined;
  #pauseMs = FIRST_PAUSE_MS;
  #busy: { since: number; last: number } | undefined;
  #emptied: PromiseWithResolvers<void> | undefined;

  constructor(writer: QueueWriter, limitMs: number) {
    this.#writer = writer;
    this.#limitMs = limitMs;
  }

  /** Stored with the others of this turn, in one block. Resolves with the result of the change. */
  append(prepared: PreparedRecords, { isKept = false, change }: AppendOptions = {}): Promise<unknown> {
    const stored = this.#add({ prepared, isKept, ...(change === undefined ? {} : { change }) });
    if (!this.#isScheduled) {
      this.#isScheduled = true;
      setImmediate(() => {
        this.#isScheduled = false;
        this.flush();
      });
    }
    return stored;
  }

  /** At once when nothing is in the way, else after all that waits already. */
  run<T>(work: () => T, { isKept = false }: WriteOptions = {}): MaybePromise<T> {
    this.flush();
    if (this.#waiting.length === 0) {
      try {
        const result = work();
        this.#succeeded();
        return result;
      } catch (thrown) {
        if (!isBusy(thrown)) throw thrown;
        this.#noteBusy();
      }
    }
    const done = this.#add({ work, isKept });
    if (this.#retry === undefined) this.#retryLater();
    return done as Promise<T>;
  }

  /** Writes what is waiting, unless another process is writing. Never throws: a failure goes to those who wait. */
  flush(): void {
    if (this.#retry === undefined && !this.#isWriting) this.#drain();
  }

  /** Resolves once nothing waits. From now on nothing is kept beyond the limit. */
  end(): MaybePromise<void> {
    this.#isEnding = true;
    this.flush();
    if (this.#waiting.length === 0) return;
    this.#emptied ??= Promise.withResolvers<void>();
    return this.#emptied.promise;
  }

  #add(entry: Omit<Entry, 'done'>): Promise<unknown> {
    const done = Promise.withResolvers<unknown>();
    this.#waiting.push({ ...entry, done });
    return done.promise;
  }

  #drain(): void {
    this.#isWriting = true;
    while (this.#waiting.length > 0 && this.#tryNext());
    this.#isWriting = false;
    if (this.#waiting.length === 0) this.#emptied?.resolve();
    else this.#retryLater();
  }

  /** False when another process is writing. */
  #tryNext(): boolean {
    const group = nextGroup(this.#waiting);
    try {
      const results = this.#perform(group);
      this.#succeeded();
      for (const [at, { done }] of this.#waiting.splice(0, group.length).entries()) done.resolve(results[at]);
    } catch (thrown) {
      if (isBusy(thrown)) return this.#giveUpLate(thrown);
      if (group.length > 1 && group.some(({ change }) => change !== undefined))
        for (const entry of group) entry.isAlone = true;
      else for (const { done } of this.#waiting.splice(0, group.length)) done.reject(thrown);
    }
    return true;
  }

  /** What each of them resolves with. */
  #perform(group: readonly Entry[]): readonly unknown[] {
    const [work] = group.map((entry) => entry.work);
    if (work !== undefined) return [work()];
    const writer = this.#writer;
    if (group.every(({ change }) => change === undefined)) {
      writer.write(joined(group));
      return [];
    }
    return writer.exclusively(() => {
      const changed = group.map(({ change }) => change?.());
      writer.write(joined(group.filter((_, at) => changed[at]?.isStored !== false)));
      return changed.map((one) => one?.result);
    });
  }

  #succeeded(): void {
    this.#busy = undefined;
    this.#pauseMs = FIRST_PAUSE_MS;
    this.#writer.checkpointIfDue();
  }

  #noteBusy(): { readonly since: number; readonly last: number } {
    const now = performance.now();
    if (this.#busy === undefined || now - this.#busy.last > SAME_LOCK_MS) {
      this.#busy = { since: now, last: now };
      this.#pauseMs = FIRST_PAUSE_MS;
    }
    this.#busy.last = now;
    return this.#busy;
  }

  /** Nothing of what fails here was written. */
  #giveUpLate(cause: unknown): false {
    const { since, last } = this.#noteBusy();
    if (last - since < this.#limitMs) return false;
    for (const entry of this.#waiting.splice(0)) {
      if (entry.isKept && !this.#isEnding) this.#waiting.push(entry);
      else entry.done.reject(stayedBusy(this.#limitMs, cause));
    }
    return false;
  }

  #retryLater(): void {
    this.#retry = setTimeout(() => {
      this.#retry = undefined;
      this.#drain();
    }, this.#pauseMs);
    this.#pauseMs = Math.min(this.#pauseMs * 2, LONGEST_PAUSE_MS);
  }
}

/** One piece of work, or all records up to the next one. */
function nextGroup(waiting: readonly Entry[]): readonly Entry[] {
  const alone = waiting.findIndex(({ prepared, isAlone }) => prepared === undefined || isAlone === true);
  return waiting.slice(0, alone < 0 ? waiting.length : Math.max(alone, 1));
}

function joined(group: readonly Entry[]): PreparedRecords {
  const parts = group.flatMap(({ prepared }) => (prepared === undefined ? [] : [prepared]));
  const [only] = parts;
  if (parts.length === 1 && only !== undefined) return only;
  return { body: parts.map(({ body }) => body).join('\n'), records: parts.flatMap(({ records }) => records) };
}

function stayedBusy(limitMs: number, cause: unknown) {
  return failure('journal_failure', 'retryable', `Journal is busy: another process holds it for over ${limitMs} ms`, {
    details: {
      gate: 'journal',
      reason: 'journal_busy',
      next: 'end or continue the process that writes to journal.db in this state folder, then try again',
    },
    cause,
  });
}
