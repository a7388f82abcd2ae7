/** The requests of a session: those that run or wait for their turn, the transactions they join, the ids it has seen. */
import { ToolError, type ToolResponse } from '@tool-runtime/protocol';
import { runCall } from '../call/pipeline.ts';
import type { CallRequest, CallTurn } from '../call/state/call-types.ts';
import type { JoinedCall, SessionParts } from '../call/state/session-parts.ts';
import { policyDenial } from '../contracts/failures.ts';
import { checkId, checkToolName } from '../contracts/identifiers.ts';
import { FairSlots } from '../platform/fair-slots.ts';

export type Abort = (reason: ToolError) => void;

interface Entry {
  answer: Promise<unknown> | undefined;
  /** Set once the work has begun. */
  abort: Abort | undefined;
}

/** Work that takes its turn itself, as the first thing it waits for. Never throws at once. */
type Work<Answer> = (onOpen: (abort: Abort) => void, turn: CallTurn) => Promise<Answer>;

/** All waits are those of one session, so the slots know one owner. */
const OWNER = 'session';
/** The reason of calls after which the journal cannot be written. */
const NOT_ON_RECORD = 'recovery_required';
/**
 * Calls of one session that wait for a person at once. They take no place among the running ones, so they have their
 * own limit.
 */
const MAX_QUESTIONS = 256;

/** One call in so many gives the event loop a turn. */
const CALLS_PER_LOOP_TURN = 16;

/** Between one and two generations are remembered: enough to catch a client's mistake. */
const GENERATION = 8192;
const FIRST_SLOTS = 64;
const EMPTY = 0;
const REMOVED = 1;

/**
 * Lets timers, sockets and other sessions have their turn. Short calls end without waiting for anything, so a program that
 * makes one after the other would keep the event loop to itself. All sessions of a runtime share one.
 */
export class LoopShare {
  #left = CALLS_PER_LOOP_TURN;

  /** What the answer of this call waits for. */
  next(): Promise<void> | undefined {
    this.#left -= 1;
    if (this.#left > 0) return undefined;
    this.#left = CALLS_PER_LOOP_TURN;
    return new Promise((resolve) => setImmediate(resolve));
  }
}

/** Each runs in its turn. When the session ends, all are awaited or cancelled together. */
export class RunningWork {
  readonly #entries = new Set<Entry>();
  readonly #slots: FairSlots;
  readonly #loop: LoopShare;
  #cancelled: ToolError | undefined;
  #questions = 0;

  constructor(maxInFlight: number, loop: LoopShare) {
    this.#slots = new FairSlots(maxInFlight);
    this.#loop = loop;
  }

  /** Work that waits for its turn counts as running. `work` says through `onOpen` how it can be cancelled. */
  run<Answer>(work: Work<Answer>): Promise<Answer> {
    const entry: Entry = { answer: undefined, abort: undefined };
    this.#entries.add(entry);
    const answer = this.#inTurn(entry, work);
    entry.answer = answer;
    return answer;
  }

  #inTurn<Answer>(entry: Entry, work: Work<Answer>): Promise<Answer> {
    const slots = this.#slots;
    let isTaken = false;
    const turn: CallTurn = {
      take(signal) {
        isTaken = slots.isFree;
        const wait = isTaken ? slots.take(OWNER) : slots.take(OWNER, signal());
        return wait?.then((hasTurn) => {
          isTaken = hasTurn;
        });
      },
      lend: () => this.#lend(),
    };
    const loopTurn = this.#loop.next();
    const worked = work((abort) => {
      entry.abort = abort;
      // Work that still waited for its turn when all was cancelled is cancelled as it begins.
      if (this.#cancelled !== undefined) abort(this.#cancelled);
    }, turn);
    const answer = loopTurn === undefined ? worked : worked.finally(() => loopTurn);
    const leave = (): void => {
      if (isTaken) slots.give();
      this.#entries.delete(entry);
      // A set that was rebuilt refers to the one before it, so what has left must hold on to nothing.
      entry.answer = undefined;
      entry.abort = undefined;
    };
    // Added first, so it runs first: the caller that gets the answer finds the turn free.
    answer.then(leave, leave);
    return answer;
  }

  #lend(): () => void {
    if (this.#questions >= MAX_QUESTIONS) throw tooManyQuestions();
    this.#questions += 1;
    this.#slots.give();
    return () => {
      this.#questions -= 1;
      this.#slots.takeBack();
    };
  }

  cancel(reason: ToolError): void {
    if (this.#cancelled !== undefined) return;
    this.#cancelled = reason;
    for (const { abort } of this.#entries) abort?.(reason);
  }

  /** Resolves when nothing is left. */
  async ended(): Promise<void> {
    while (this.#entries.size > 0) await Promise.allSettled([...this.#entries].map(({ answer }) => answer));
  }
}

/** Work that is no call and waits for its turn without a deadline: those it waits for have theirs. */
export function inTurn<Answer>(work: () => Promise<Answer>, signal: AbortSignal = new AbortController().signal) {
  return async (_onOpen: unknown, turn: CallTurn): Promise<Answer> => {
    await turn.take(() => signal);
    return work();
  };
}

/** Outside first: a call that waits there takes no place in its session. */
export function bothTurns(outer: CallTurn | undefined, own: CallTurn): CallTurn {
  if (outer === undefined) return own;
  return {
    take(signal) {
      const taken = outer.take(signal);
      // The signal is made only where there was something to wait for.
      if (taken === undefined) return own.take(signal);
      return taken.then(() => (signal().aborted ? undefined : own.take(signal)));
    },
    lend() {
      const resume = outer.lend();
      const resumeOwn = lendOr(own, resume);
      return () => {
        resume();
        resumeOwn();
      };
    },
  };
}

/** A session that has too many questions already refuses one more. */
function lendOr(turn: CallTurn, undo: () => void): () => void {
  try {
    return turn.lend();
  } catch (thrown) {
    undo();
    throw thrown;
  }
}

/** Runs a call in the transaction that it names, or in the newest open one of the session. */
export function runJoined(
  request: CallRequest,
  parts: SessionParts,
  onOpen: Parameters<typeof runCall>[2],
): Promise<ToolResponse> {
  if (request.recordOf !== undefined) return runCall(request, parts, onOpen);
  const joined = parts.transactions.join(request, parts);
  return joined.parts.transaction === undefined
    ? runCall(request, joined.parts, onOpen)
    : runInside(request, joined, onOpen);
}

async function runInside(
  request: CallRequest,
  joined: JoinedCall,
  onOpen: Parameters<typeof runCall>[2],
): Promise<ToolResponse> {
  const { turn } = request;
  let isUnrecorded = false;
  try {
    const own = turn === undefined ? {} : { turn: enteringTurn(turn, joined.enter) };
    const answer = await runCall({ ...request, ...own }, joined.parts, onOpen);
    isUnrecorded = answer.errors.some(({ details }) => details?.['reason'] === NOT_ON_RECORD);
    return answer;
  } finally {
    joined.leave(isUnrecorded);
  }
}

/** A call that still waits for its turn is not part of its transaction yet: who ends that need not wait for it. */
function enteringTurn(turn: CallTurn, enter: () => void): CallTurn {
  return {
    take(signal) {
      const waited = turn.take(signal);
      return waited instanceof Promise ? waited.then(enter) : enter();
    },
    lend: () => turn.lend(),
  };
}

function tooManyQuestions(): ToolError {
  return policyDenial(`Session has as many unanswered questions as it may have: ${MAX_QUESTIONS}`, {
    details: {
      gate: 'approval',
      reason: 'too_many_questions',
      limit: MAX_QUESTIONS,
      next: 'wait for answers or cancel some calls, then try again',
    },
  });
}

/**
 * Refuses a request id that this session has seen, because two answers to one id cannot be told apart.
 *
 * An id is kept as 64 bits of a hash: eight bytes each instead of a string, so that a thousand sessions with thousands
 * of calls each cost a few megabytes. Two different ids with one hash would refuse the second of them; with the ids
 * kept here the chance is below one in 10^14, and a client that builds such ids only gets its own calls refused.
 */
export class RequestIds {
  #young = new HashTable();
  #old = new HashTable();

  has(requestId: string): boolean {
    const hash = hashOf(requestId);
    return this.#young.has(hash) || this.#old.has(hash);
  }

  /** What is remembered takes this much memory. */
  get bytes(): number {
    return this.#young.bytes + this.#old.bytes;
  }

  /** A call that carries an idempotency key may repeat its id: it is answered from the record. */
  claim(requestId: string, { isKeyed }: { isKeyed: boolean }): void {
    const hash = hashOf(requestId);
    if (this.#young.has(hash) || this.#old.has(hash)) {
      if (isKeyed) return;
      throw new ToolError('E_VALIDATION_FAIL', 'Request id was used before in this session', {
        path: 'request_id',
        details: { gate: 'session', reason: 'request_id_reused', next: 'use a new request_id for every call' },
      });
    }
    if (this.#young.size >= GENERATION) {
      this.#old = this.#young;
      this.#young = new HashTable();
    }
    this.#young.add(hash);
  }

  forget(requestId: string): void {
    const hash = hashOf(requestId);
    this.#young.remove(hash);
    this.#old.remove(hash);
  }
}

/** A set of hashes in one array, two numbers each: open addressing, at most half full. */
class HashTable {
  #slots = new Uint32Array(FIRST_SLOTS * 2);
  /** Slots in use, removed ones included: they are freed when the table grows. */
  #used = 0;

  get size(): number {
    return this.#used;
  }

  get bytes(): number {
    return this.#slots.byteLength;
  }

  has(hash: Hash): boolean {
    return this.#slots[this.#find(hash)] === hash.high;
  }

  add(hash: Hash): void {
    if (this.#used * 4 >= this.#slots.length) this.#grow();
    this.#put(hash, hash.high);
    this.#used += 1;
  }

  remove(hash: Hash): void {
    if (this.has(hash)) this.#put(hash, REMOVED);
  }

  #put(hash: Hash, high: number): void {
    const at = this.#find(hash);
    this.#slots[at] = high;
    this.#slots[at + 1] = hash.low;
  }

  /** Where the hash is, or the free slot where it belongs. */
  #find({ high, low }: Hash): number {
    const slots = this.#slots;
    const mask = slots.length - 1;
    let at = (low * 2) & mask;
    while (slots[at] !== EMPTY && (slots[at] !== high || slots[at + 1] !== low)) at = (at + 2) & mask;
    return at;
  }

  #grow(): void {
    const before = this.#slots;
    this.#slots = new Uint32Array(before.length * 2);
    this.#used = 0;
    for (let at = 0; at < before.length; at += 2) {
      const [high = EMPTY, low = 0] = before.subarray(at, at + 2);
      if (high > REMOVED) this.add({ high, low });
    }
  }
}

interface Hash {
  /** Never one of the numbers that mark a slot. */
  readonly high: number;
  readonly low: number;
}

/** Two multiplicative hashes of 32 bits with different constants, mixed at the end. */
function hashOf(text: string): Hash {
  let high = 0xdeadbeef;
  let low = 0x41c6ce57;
  for (let at = 0; at < text.length; at++) {
    const code = text.charCodeAt(at);
    high = Math.imul(high ^ code, 2654435761);
    low = Math.imul(low ^ code, 1597334677);
  }
  high = Math.imul(high ^ (high >>> 16), 2246822507) ^ Math.imul(low ^ (low >>> 13), 3266489909);
  low = Math.imul(low ^ (low >>> 16), 2246822507) ^ Math.imul(high ^ (high >>> 13), 3266489909);
  return { high: Math.max(high >>> 0, REMOVED + 1), low: low >>> 0 };
}

/** The same step for every way in: short, printable names, ids and keys, no id twice. Throws E_VALIDATION_FAIL. */
export function admitRequest(
  options: Omit<CallRequest, 'tool' | 'args' | 'requestId'> & Partial<Pick<CallRequest, 'requestId'>>,
  { tool, args }: Pick<CallRequest, 'tool' | 'args'>,
  { requestIds, newId }: { readonly requestIds: RequestIds; readonly newId: () => string },
): CallRequest {
  const { requestId, idempotencyKey, dedupeKey, txId } = options;
  checkToolName(tool, 'tool');
  if (idempotencyKey !== undefined) checkId(idempotencyKey, 'idempotency_key');
  if (dedupeKey !== undefined) checkId(dedupeKey, 'dedupe_key');
  if (txId !== undefined) checkId(txId, 'tx_id');
  const isKeyed = idempotencyKey !== undefined || dedupeKey !== undefined;
  if (requestId !== undefined) requestIds.claim(checkId(requestId, 'request_id'), { isKeyed });
  return { ...options, tool, args, requestId: requestId ?? newId() };
}
