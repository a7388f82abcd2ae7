/**
 * Collects the records of all calls made in one turn and commits them together.
 *
 * The first append of a turn schedules the commit as a microtask, so nothing waits longer than the code already
 * running. Everyone in a batch shares one promise: stored together or refused together.
 */
import type { PreparedRecords } from './block-log.ts';

interface Batch extends PreparedRecords {
  readonly stored: PromiseWithResolvers<void>;
}

export interface GroupCommit {
  add(prepared: PreparedRecords): Promise<void>;
  /** Commits what is waiting, now. Never throws: a failure goes to those who wait. */
  flush(): void;
}

export function createGroupCommit(commit: (prepared: PreparedRecords) => void): GroupCommit {
  let batch: Batch | undefined;

  function flush(): void {
    if (batch === undefined) return;
    const { stored, ...prepared } = batch;
    batch = undefined;
    try {
      commit(prepared);
      stored.resolve();
    } catch (thrown) {
      stored.reject(thrown);
    }
  }

  return {
    flush,
    add(prepared) {
      if (batch === undefined) {
        batch = { ...prepared, stored: Promise.withResolvers() };
        queueMicrotask(flush);
      } else {
        batch.body += `\n${prepared.body}`;
        for (const record of prepared.records) batch.records.push(record);
      }
      return batch.stored.promise;
    },
  };
}
