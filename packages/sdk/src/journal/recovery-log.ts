/**
 * Remembers what the journal could not be told.
 *
 * When a record cannot be appended, its marker waits here and is written before the next record that succeeds. While a
 * result is missing, the session may not start another effect that is unsafe to repeat.
 *
 * What waits is bounded: every marker of a call that ran is kept (there are no more of them than calls can run at once),
 * and of calls that never started the first few; the others are counted. A journal that is full for hours then costs the same
 * for each refused call as for the first.
 */
import type { JournalRecord, JournalStore, RecoveryRecord } from '../contracts/journal.ts';
import type { MaybePromise } from '../contracts/workspace.ts';

/** Markers of calls that never started which are kept one by one. */
const MAX_NAMED = 16;

interface Marker {
  readonly record: RecoveryRecord;
  readonly blocks: boolean;
}

interface Held {
  readonly markers: readonly Marker[];
  /** How many are not among the markers, and the last of them. */
  readonly unnamed: number;
  readonly last: Pick<RecoveryRecord, 'at_ms' | 'call_id'>;
}

const NOTHING: Held = { markers: [], unnamed: 0, last: { at_ms: 0 } };

type Write<T> = (records: readonly JournalRecord[]) => MaybePromise<T>;

export interface RecoveryLog {
  /** True while the outcome of an effect is not on record. */
  readonly blocked: boolean;
  /** Whether everything is on record that should be. */
  readonly isEmpty: boolean;
  /** What is still unwritten, oldest first; the last one counts those that are not named. */
  readonly pending: readonly RecoveryRecord[];
  /** Tries to write the marker now; keeps it for later when that fails. Returns whether it is on record. */
  note(marker: RecoveryRecord, options: { readonly blocks: boolean }): Promise<boolean>;
  /** Hands the records to `write` with all waiting markers in front. When it throws, the markers go on waiting. */
  carry<T>(records: readonly JournalRecord[], write: Write<T>): Promise<T>;
}

export function createRecoveryLog(journal: JournalStore): RecoveryLog {
  let held = NOTHING;
  /** Markers that block and are not stored yet, waiting or on their way. */
  let blocking = 0;

  /** Markers are in one write at a time: none is written twice, and none is forgotten that came meanwhile. */
  async function carry<T>(records: readonly JournalRecord[], write: Write<T>): Promise<T> {
    if (held === NOTHING) return write(records);
    const taken = held;
    held = NOTHING;
    try {
      const result = await write([...recordsOf(taken), ...records]);
      blocking -= taken.markers.filter(({ blocks }) => blocks).length;
      return result;
    } catch (thrown) {
      held = joined(taken, held);
      throw thrown;
    }
  }

  return {
    get blocked() {
      return blocking > 0;
    },
    get isEmpty() {
      return held === NOTHING;
    },
    get pending() {
      return recordsOf(held);
    },
    async note(record, { blocks }) {
      // From now on, not only when the journal has failed again: it may take long to answer.
      if (blocks) blocking += 1;
      try {
        await carry([record], (records) => journal.append(records));
        if (blocks) blocking -= 1;
        return true;
      } catch {
        // The journal is the place where failures are told; when it is down the marker waits for it.
        held = added(held, { record, blocks });
        return false;
      }
    },
    carry,
  };
}

function added(held: Held, marker: Marker): Held {
  const isNamed = marker.blocks || held.markers.filter(({ blocks }) => !blocks).length < MAX_NAMED;
  if (isNamed) return { ...held, markers: [...held.markers, marker] };
  return { ...held, unnamed: held.unnamed + 1, last: marker.record };
}

function joined(first: Held, later: Held): Held {
  const last = later.last.at_ms < first.last.at_ms ? first.last : later.last;
  const counts = { unnamed: first.unnamed + later.unnamed, last };
  return later.markers.reduce(added, { ...first, ...counts });
}

function recordsOf({ markers, unnamed, last }: Held): readonly RecoveryRecord[] {
  const named = markers.map(({ record }) => record);
  if (unnamed === 0) return named;
  const note = `${unnamed} more refused calls could not be recorded, the last was ${last.call_id ?? 'unnamed'}`;
  const count = { at_ms: last.at_ms, reason: 'refusals_unrecorded', classification: 'repair', note } as const;
  return [...named, { kind: 'recovery', ...count }];
}
