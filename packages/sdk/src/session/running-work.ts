/** What a session has under way: each in its turn, all waited for when it ends, or cancelled together. */
import type { ToolError } from '@tool-runtime/protocol';
import { Slots } from './run-batch.ts';

export type Abort = (reason: ToolError) => void;

interface Entry {
  answer: Promise<unknown> | undefined;
  /** Set once the work has begun. */
  abort: Abort | undefined;
}

export class RunningWork {
  readonly #entries = new Set<Entry>();
  readonly #slots: Slots;
  #cancelled: ToolError | undefined;

  constructor(maxInFlight: number) {
    this.#slots = new Slots(maxInFlight);
  }

  /** Work that waits for its turn counts as running. `work` says through `onOpen` how it can be cancelled. */
  async run<Answer>(work: (onOpen: (abort: Abort) => void) => Promise<Answer>): Promise<Answer> {
    const entry: Entry = { answer: undefined, abort: undefined };
    this.#entries.add(entry);
    const answer = this.#inTurn(entry, work);
    entry.answer = answer;
    try {
      return await answer;
    } finally {
      this.#entries.delete(entry);
    }
  }

  async #inTurn<Answer>(entry: Entry, work: (onOpen: (abort: Abort) => void) => Promise<Answer>): Promise<Answer> {
    const wait = this.#slots.take();
    if (wait !== undefined) await wait;
    try {
      return await work((abort) => {
        entry.abort = abort;
        // Work that still waited for its turn when all was cancelled is cancelled as it begins.
        if (this.#cancelled !== undefined) abort(this.#cancelled);
      });
    } finally {
      this.#slots.give();
    }
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
