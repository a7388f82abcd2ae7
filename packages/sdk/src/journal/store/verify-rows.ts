/**
 * Checks what lies beside the chain: that a journal without records never had any, that the claims of keys are those
 * whose total the chain carries, the entries of processes, and the indexes through which all of it is read.
 */
import type { ChainHead, VerifyReport } from '../../contracts/journal.ts';
import type { InstanceRows } from './instance-rows.ts';
import type { JournalTables } from './journal-tables.ts';
import type { KeyLedger } from './key-ledger.ts';

export interface RowCheckParts {
  readonly tables: JournalTables;
  readonly keys: KeyLedger;
  readonly instances: InstanceRows;
  /** The mark of a journal that never held a record. */
  readonly birth: string;
}

type Broken = NonNullable<VerifyReport['broken']>;

/** `total` is the last one that the chain carries; a chain without one is of a version that sealed nothing else. */
export function rowProblem(parts: RowCheckParts, head: ChainHead, total: string | undefined): Broken | undefined {
  const seq = head.seq + 1;
  try {
    const problem =
      birthProblem(parts, head) ?? claimProblem(parts, head, total) ?? instanceProblem(parts, head, total);
    if (problem !== undefined) return { seq, ...problem };
    const damage = parts.tables.damage();
    return damage === undefined ? undefined : { seq, where: 'file', reason: `damaged: ${damage}` };
  } catch (thrown) {
    const reason = `unreadable: ${thrown instanceof Error ? thrown.message : 'a row cannot be read'}`;
    return { seq, where: 'file', reason };
  }
}

type Problem = Pick<Broken, 'where' | 'reason'> | undefined;

function birthProblem({ tables, birth }: RowCheckParts, head: ChainHead): Problem {
  const mark = tables.birth();
  if (head.seq === 0) {
    if (mark === birth) return undefined;
    return { where: 'file', reason: 'emptied: there is no record, and no proof that there never was one' };
  }
  return mark === undefined ? undefined : { where: 'file', reason: 'changed: it has records and is marked as new' };
}

function claimProblem({ tables, keys }: RowCheckParts, head: ChainHead, total: string | undefined): Problem {
  if (total !== undefined) {
    const reason = keys.mismatch(total, tables.keys());
    return reason === undefined ? undefined : { where: 'claims', reason: `claims: ${reason}` };
  }
  if (head.seq > 0) return undefined;
  for (const { call_id } of tables.keys()) {
    return { where: 'claims', reason: `claims: the chain knows no claim of call ${call_id}` };
  }
  return undefined;
}

function instanceProblem({ tables, instances }: RowCheckParts, head: ChainHead, total: string | undefined): Problem {
  if (total === undefined && head.seq > 0) return undefined;
  const changed = tables.instances().find((row) => !instances.isGenuine(row));
  if (changed === undefined) return undefined;
  return { where: 'processes', reason: `processes: the entry of ${changed.id} was changed` };
}
