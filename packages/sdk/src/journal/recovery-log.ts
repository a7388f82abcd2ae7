/**
 * Remembers what the journal could not be told.
 *
 * When a record cannot be appended, its marker waits here and is written before the next record that succeeds. While a
 * result is missing, the session may not start another effect that is unsafe to repeat.
 */
import type { JournalRecord, JournalStore, RecoveryRecord } from '../contracts/journal.ts';

export interface RecoveryLog {
  /** True while the outcome of an effect is not on record. */
  readonly blocked: boolean;
  /** Markers still unwritten, oldest first. */
  readonly pending: readonly RecoveryRecord[];
  /** Tries to write the marker now; keeps it for later when that fails. Returns whether it is on record. */
  note(marker: RecoveryRecord, options: { readonly blocks: boolean }): Promise<boolean>;
  /** The records with all waiting markers in front; call `written` once they are stored. */
  prefix(records: readonly JournalRecord[]): readonly JournalRecord[];
  written(): void;
}

export function createRecoveryLog(journal: JournalStore): RecoveryLog {
  let pending: RecoveryRecord[] = [];
  let blocked = false;
  const written = (): void => {
    pending = [];
    blocked = false;
  };
  return {
    get blocked() {
      return blocked;
    },
    get pending() {
      return pending;
    },
    async note(marker, { blocks }) {
      // From now on, not only when the journal has failed again: it may take long to answer.
      blocked ||= blocks;
      try {
        await journal.append([...pending, marker]);
        written();
        return true;
      } catch {
        // The journal is the place where failures are told; when it is down the marker waits for it.
        pending.push(marker);
        return false;
      }
    },
    prefix: (records) => (pending.length === 0 ? records : [...pending, ...records]),
    written: () => {
      if (pending.length > 0) written();
    },
  };
}
