/**
 * The processes that share a journal, sealed.
 *
 * A call whose process is dead may run again, so no process may be declared dead without the key: a row that is missing or
 * has a wrong seal says nothing, and a process that nothing is known of counts as alive.
 */
import type { EnrolledInstance, Instance } from '../../contracts/journal.ts';
import { createKeyedDigest } from '../../platform/digest.ts';
import type { InstanceRow, JournalTables } from './journal-tables.ts';

export interface InstanceRows {
  enroll(instance: Instance): void;
  retire(id: string, atMs: number): void;
  find(id: string): EnrolledInstance | undefined;
  /** Those that have not retired. */
  live(): readonly Instance[];
  isGenuine(row: InstanceRow): boolean;
  put(row: Omit<InstanceRow, 'mac'>): void;
}

export function createInstanceRows(tables: JournalTables, masterKey: Uint8Array): InstanceRows {
  const digest = createKeyedDigest(masterKey, 'tool-runtime journal instance v1');
  const macOf = ({ id, pid, birth, retired_at }: Omit<InstanceRow, 'mac'>) =>
    digest(JSON.stringify([id, pid, birth, retired_at]));
  const isGenuine = (row: InstanceRow) => row.mac === macOf(row);
  const put = (row: Omit<InstanceRow, 'mac'>) => tables.putInstance({ ...row, mac: macOf(row) });

  function genuine(id: string): InstanceRow | undefined {
    const row = tables.findInstance(id);
    return row !== undefined && isGenuine(row) ? row : undefined;
  }

  return {
    put,
    isGenuine,
    enroll: ({ id, pid, birth }) => put({ id, pid, birth, retired_at: null }),
    retire(id, atMs) {
      const row = genuine(id);
      if (row !== undefined && row.retired_at === null) put({ ...row, retired_at: atMs });
    },
    find(id) {
      const row = genuine(id);
      return row === undefined ? undefined : { ...instanceOf(row), retired: row.retired_at !== null };
    },
    live: () =>
      tables
        .instances()
        .filter((row) => row.retired_at === null && isGenuine(row))
        .map(instanceOf),
  };
}

function instanceOf({ id, pid, birth }: InstanceRow): Instance {
  return { id, pid, birth };
}
