/**
 * What changed in the calls of one journal since the last look, for people who watch.
 *
 * Read from the end of the journal, and never more than a bounded part of it: what a look costs must not grow with the number
 * of calls, and people do not read thousands of lines a second. What is passed over is counted, and when it is quieter the
 * newest calls are told once more, so that a list of them is whole.
 */
import type { CallsChanged } from '@tool-runtime/protocol';
import type { Runtime } from '@tool-runtime/sdk';
import { callRow } from './read-pages.ts';
import { type CallDraft, noteCall } from './record-rows.ts';

/** Records read by one look; four or more make a call. */
const MOST_RECORDS = 512;
/** When it has been too much and is no longer: so much is read again, and the newest calls in it are told. */
const TAIL_RECORDS = 1400;
const TAIL_CALLS = 300;
/** Calls that are remembered, so that their next record can be told with the ones before it. */
const MOST_CALLS = 1024;

export type CallNews = NonNullable<CallsChanged['workspaces']>[number];

export interface LiveCalls {
  /** Undefined when the journal has not grown and nothing is owed. */
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
  let isBehind = false;
  /** Everything before was told. */
  let toldUpTo = last;

  function prune(): void {
    if (known.size <= MOST_CALLS) return;
    for (const [id, { end_ms }] of known) if (end_ms !== undefined) known.delete(id);
    for (const id of known.keys()) {
      if (known.size <= MOST_CALLS) return;
      known.delete(id);
    }
  }

  /** The calls that records after `start` are about, in the order of their last change. */
  function read(start: number, head: number): { readonly changed: readonly CallDraft[]; readonly isKnown: boolean } {
    // What was passed over may have changed any of them.
    if (start !== last) known.clear();
    const changed = new Map<string, CallDraft>();
    let isKnown = true;
    for (const record of source.runtime.records({ after: start, limit: head - start })) {
      const id = 'call_id' in record ? record.call_id : undefined;
      if (id === undefined) continue;
      const call = noteCall(record, known.get(id));
      if (call === undefined) {
        isKnown = false;
        continue;
      }
      known.set(id, call);
      changed.delete(id);
      changed.set(id, call);
    }
    return { changed: [...changed.values()], isKnown };
  }

  return {
    look() {
      const head = source.runtime.head().seq;
      if (head === last && !isBehind) return undefined;
      const isBack = isBehind && head - last <= MOST_RECORDS;
      const start = isBack ? Math.max(0, head - TAIL_RECORDS) : Math.max(last, head - MOST_RECORDS);
      const leftOut = Math.max(0, start - last);
      const { changed, isKnown } = read(start, head);
      const told = isBack ? newest(changed, TAIL_CALLS) : changed;
      const isComplete = isKnown && start <= toldUpTo && told.length === changed.length;
      [last, isBehind] = [head, leftOut > 0];
      if (!isBehind) toldUpTo = head;
      prune();
      const [first] = told;
      return {
        workspace: source.name,
        after: first !== undefined && told.length < changed.length ? first.first_seq - 1 : start,
        head,
        calls: told.map(callRow),
        is_complete: isComplete,
        left_out: leftOut,
      };
    },
  };
}

function newest(calls: readonly CallDraft[], most: number): readonly CallDraft[] {
  return calls.toSorted((one, other) => one.first_seq - other.first_seq).slice(-most);
}
