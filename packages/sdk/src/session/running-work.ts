/** What a session has under way: each in its turn, all waited for when it ends, or cancelled together. */
import type { ToolError } from '@tool-runtime/protocol';
import type { CallTurn } from '../call/state/call-types.ts';
import { policyDenial } from '../contracts/failures.ts';
import { FairSlots } from '../platform/fair-slots.ts';

export type Abort = (reason: ToolError) => void;

interface Entry {
  answer: Promise<unknown> | undefined;
  /** Set once the work has begun. */
  abort: Abort | undefined;
}

/** Work that takes its turn itself, as the first thing it waits for. */
type Work<Answer> = (onOpen: (abort: Abort) => void, turn: CallTurn) => Promise<Answer>;

/** All waits are those of one session, so the slots know one owner. */
const OWNER = 'session';
/** Calls of one session that wait for a person at once. They take no place among the running ones, so they have their own limit. */
const MAX_QUESTIONS = 256;

export class RunningWork {
  readonly #entries = new Set<Entry>();
  readonly #slots: FairSlots;
  #cancelled: ToolError | undefined;
  #questions = 0;

  constructor(maxInFlight: number) {
    this.#slots = new FairSlots(maxInFlight);
  }

  /** Work that waits for its turn counts as running. `work` says through `onOpen` how it can be cancelled. */
  async run<Answer>(work: Work<Answer>): Promise<Answer> {
    const entry: Entry = { answer: undefined, abort: undefined };
    this.#entries.add(entry);
    const answer = this.#withTurn(entry, work);
    entry.answer = answer;
    try {
      return await answer;
    } finally {
      this.#entries.delete(entry);
    }
  }

  async #withTurn<Answer>(entry: Entry, work: Work<Answer>): Promise<Answer> {
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
    try {
      return await work((abort) => {
        entry.abort = abort;
        // Work that still waited for its turn when all was cancelled is cancelled as it begins.
        if (this.#cancelled !== undefined) abort(this.#cancelled);
      }, turn);
    } finally {
      if (isTaken) slots.give();
    }
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
