/**
 * What changed in the calls of one journal since the last look, for people who watch.
 *
 * Read from the end of the journal, and never more than a bounded part of it: what a look costs must not grow with the number
 * of calls, and nobody reads thousands of lines a second. What is passed over is counted, so that readers know to ask for it.
 */
import type { CallsChanged } from '@tool-runtime/protocol';
import type { Runtime } from '@tool-runtime/sdk';
import { callRow } from './read-pages.ts';
import { type CallDraft, noteCall } from './record-rows.ts';

/** Records read by one look; four or more make a call. */
const MOST_RECORDS = 512;
/** Calls that are remembered, so that their next record can be told with the ones before it. */
const MOST_CALLS = 1024;

export type CallNews = NonNullable<CallsChanged['workspaces']>[number];

export interface LiveCalls {
  /** Undefined when the journal has not grown. */
  look(): CallNews | undefined;
}

export interface LiveSource {
  readonly name: string;
  /** Asked for each time: a host opens runtimes anew when their registry changes. */
  readonly runtime: Pick<Runtime, 'records' | 'head'>;
}

/** Begins with the next record. */
export function followCalls(source: LiveSource): LiveCalls {
  const known = new Map<string, CallDraft>();
  let last = source.runtime.head().seq;

  function prune(): void {
    if (known.size <= MOST_CALLS) return;
    for (const [id, { end_ms }] of known) if (end_ms !== undefined) known.delete(id);
    for (const id of known.keys()) {
      if (known.size <= MOST_CALLS) return;
      known.delete(id);
    }
  }

  return {
    look() {
      const head = source.runtime.head().seq;
      if (head === last) return undefined;
      const after = Math.max(last, head - MOST_RECORDS);
      const leftOut = after - last;
      // What was passed over may have changed any of them.
      if (leftOut > 0) known.clear();
      const changed = new Map<string, CallDraft>();
      let isComplete = leftOut === 0;
      for (const record of source.runtime.records({ after, limit: head - after })) {
        const id = 'call_id' in record ? record.call_id : undefined;
        if (id === undefined) continue;
        const call = noteCall(record, known.get(id));
        if (call === undefined) {
          isComplete = false;
          continue;
        }
        known.set(id, call);
        changed.delete(id);
        changed.set(id, call);
      }
      last = head;
      prune();
      const calls = Array.from(changed.values(), callRow);
      return { workspace: source.name, head, calls, is_complete: isComplete, left_out: leftOut };
    },
  };
}
