/**
 * Which calls have an intent and nothing that ends it, kept up to date as records go by.
 *
 * Applying a stretch of records again, from any point up to the same end, leaves the same answer: the last word on each
 * call wins. Callers rely on that when they read a stretch twice.
 */
import type { CheckpointRecord, JournalRecord } from '../../contracts/journal.ts';

export interface OpenCalls {
  apply(record: JournalRecord, seq: number): void;
  /** Call id → seq of its intent, oldest first. */
  readonly intents: ReadonlyMap<string, number>;
}

export function createOpenCalls(from?: CheckpointRecord): OpenCalls {
  const intents = new Map<string, number>();
  from?.open.forEach((callId, at) => {
    intents.set(callId, from.open_seq[at] ?? 0);
  });
  return {
    intents,
    apply(record, seq) {
      if (record.kind === 'intent') intents.set(record.call_id, seq);
      else if (endsCall(record)) intents.delete(record.call_id);
    },
  };
}

/** A recovery of any class has been dealt with or is a person's to deal with; no later scan should find it again. */
function endsCall(record: JournalRecord): record is JournalRecord & { readonly call_id: string } {
  if (record.kind === 'result') return true;
  if (record.kind === 'decision') return record.outcome === 'deny';
  return record.kind === 'recovery' && record.call_id !== undefined;
}
