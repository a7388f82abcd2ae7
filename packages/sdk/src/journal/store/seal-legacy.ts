/**
 * Seals the claims and processes of a journal of version 1 to 3, once.
 *
 * Whether that is still to be done is read from the chain and nowhere else: the first block of this version carries a
 * total of claims, and so does every rotation. A chain with a total is never sealed again, whatever the tables say.
 */
import type { Clock } from '../../contracts/clock.ts';
import type { RotationRecord } from '../../contracts/journal-rotation.ts';
import { prepareRecords } from './block-log.ts';
import type { BlockWriter } from './block-writer.ts';
import type { InstanceRows } from './instance-rows.ts';
import type { JournalTables } from './journal-tables.ts';
import type { KeyLedger } from './key-ledger.ts';

export interface LegacyParts {
  readonly tables: JournalTables;
  readonly writer: BlockWriter;
  readonly keys: KeyLedger;
  readonly instances: InstanceRows;
  readonly clock: Clock;
}

export function sealLegacy(parts: LegacyParts): void {
  const { tables, writer } = parts;
  if (isUnsealed(tables)) writer.exclusively(() => isUnsealed(tables) && sealRows(parts));
}

/** A chain that was cut back to before its last rotation lacks a total too, and must not get one. */
function isUnsealed(tables: JournalTables): boolean {
  if (tables.lastTotal() !== undefined) return false;
  const last = tables.lastBlock();
  return last !== undefined && last.first_seq + last.count > (tables.lastArchive()?.head_seq ?? 0);
}

function sealRows({ tables, writer, keys, instances, clock }: LegacyParts): void {
  const at_ms = clock.now();
  const rows = [...tables.keys()];
  keys.carry();
  for (const row of rows) keys.adopt(row);
  for (const row of tables.instances()) instances.put(row);
  for (const { state, instance } of rows) {
    // Its entry was pruned, which only happens to those that ended.
    if (state === 'pending' && instance !== null && instances.find(instance) === undefined)
      instances.put({ id: instance, pid: 0, birth: '', retired_at: at_ms });
  }
  const record: RotationRecord = { kind: 'rotation', event: 'sealed', at_ms, claims: rows.length };
  writer.write(prepareRecords([record]));
}
