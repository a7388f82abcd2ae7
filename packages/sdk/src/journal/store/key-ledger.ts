/**
 * The claims of keys, sealed: each row by itself, and all of them together in the chain.
 *
 * A row carries a MAC over all its columns. It is checked whenever the row is read, so a forged answer is refused and
 * never repeated. The chain carries a total: the number of rows and the sum (modulo 2^256) of a keyed digest of each
 * row's MAC. Every transaction that changes a row writes the new total with its block, so a row that was added, removed,
 * changed or put back without the key shows in `verify`, at a cost that does not depend on the number of rows. The sum
 * is stored masked: the difference of two totals would otherwise give digests away.
 */
import { randomUUID } from 'node:crypto';
import { failure } from '../../contracts/failures.ts';
import { createKeyedDigest } from '../../platform/digest.ts';
import type { JournalTables, KeyName, KeyRow } from './journal-tables.ts';
import { damaged } from './sqlite-failure.ts';

export type UnsealedKey = Omit<KeyRow, 'mac'>;

/** The only way to the rows of keys, but for `tables.keys()`, which `verify` and the migration walk through. */
export interface KeyLedger {
  /** Throws ToolError for a row that was changed without the key, as every method that reads one. */
  find(scope: string, key: string): KeyRow | undefined;
  pendingOf(callId: string): readonly KeyRow[];
  /** A row whose name has none. Call inside the transaction in which that was looked up, as all that follow. */
  add(row: UnsealedKey): void;
  /** `before`: the row of this name, as it was found. */
  replace(before: KeyRow, row: UnsealedKey): void;
  remove(name: KeyName): void;
  /** The next block repeats the total, though no row changed. */
  carry(): void;
  /** Whether a row changed since the last block. */
  readonly isOwed: boolean;
  /** What the next block has to carry, if anything. */
  owed(): string | undefined;
  /** The block is stored, or the transaction was undone. */
  settled(): void;
  isGenuine(row: KeyRow): boolean;
  /** Seals rows of a version that did not. Nothing else may bring rows without a MAC into the total. */
  adopt(row: UnsealedKey): void;
  /** Why the rows are not those of the total, or undefined when they are. */
  mismatch(total: string, rows: Iterable<KeyRow>): string | undefined;
}

interface Total {
  readonly count: number;
  readonly sum: bigint;
  /** First record of the block that carries the total before this one; 0 for none. */
  readonly previous: number;
}

const MODULUS = 1n << 256n;

export function createKeyLedger(tables: JournalTables, masterKey: Uint8Array): KeyLedger {
  const rowDigest = createKeyedDigest(masterKey, 'tool-runtime journal claim v1');
  const elementDigest = createKeyedDigest(masterKey, 'tool-runtime journal claim element v1');
  const maskDigest = createKeyedDigest(masterKey, 'tool-runtime journal claim mask v1');
  const element = ({ mac }: KeyRow) => numberOf(elementDigest(mac));
  const isGenuine = (row: KeyRow) => row.mac === rowDigest(textOf(row));
  let next: Total | undefined;

  function checked(row: KeyRow): KeyRow {
    if (!isGenuine(row)) throw forged(row);
    return row;
  }

  function find(scope: string, key: string): KeyRow | undefined {
    const row = tables.findKey(scope, key);
    return row === undefined ? undefined : checked(row);
  }

  function total(): Total {
    const last = tables.lastTotal();
    return last === undefined
      ? { count: 0, sum: 0n, previous: 0 }
      : { ...parsed(last.claims), previous: last.first_seq };
  }

  function change(count: number, by: bigint): void {
    const before = next ?? total();
    next = { ...before, count: before.count + count, sum: modulo(before.sum + by) };
  }

  function parsed(text: string): Pick<Total, 'count' | 'sum'> {
    const [count, , nonce = '', masked = ''] = text.split(':');
    return { count: Number(count), sum: modulo(numberOf(masked) - numberOf(maskDigest(nonce))) };
  }

  function add(row: UnsealedKey): void {
    const sealed = { ...row, mac: rowDigest(textOf(row)) };
    change(1, element(sealed));
    tables.putKey(sealed);
  }

  return {
    find,
    isGenuine,
    add,
    adopt: add,
    pendingOf: (callId) => tables.pendingKeys(callId).map(checked),
    replace(before, row) {
      change(-1, -element(before));
      add(row);
    },
    remove({ scope, key }) {
      const row = find(scope, key);
      if (row === undefined) return;
      change(-1, -element(row));
      tables.deleteKey(scope, key);
    },
    carry: () => change(0, 0n),
    get isOwed() {
      return next !== undefined;
    },
    owed() {
      if (next === undefined) return undefined;
      // Never used twice with another sum; random bytes taken one by one would cost more than all the digests.
      const nonce = randomUUID();
      const masked = modulo(next.sum + numberOf(maskDigest(nonce)));
      return `${next.count}:${next.previous}:${nonce}:${masked.toString(16).padStart(64, '0')}`;
    },
    settled() {
      next = undefined;
    },
    mismatch(text, rows) {
      let [count, sum] = [0, 0n];
      for (const row of rows) {
        if (!isGenuine(row)) return `the claim of call ${row.call_id} was changed`;
        count++;
        sum = modulo(sum + element(row));
      }
      const expected = parsed(text);
      if (count !== expected.count) return `there are ${count} claims where the chain has ${expected.count}`;
      return sum === expected.sum ? undefined : 'a claim was replaced by one that no longer counts';
    },
  };
}

/** Where the total before this one stands, as the total says. */
export function previousTotal(claims: string): number {
  return Number(claims.split(':')[1]);
}

/** Throws for numbers that only someone without the key could have written: the block they stand in is forged. */
function numberOf(hex: string): bigint {
  if (!/^[0-9a-f]{64}$/.test(hex)) throw damaged(0, 'the total of claims cannot be read');
  return BigInt(`0x${hex}`);
}

function modulo(value: bigint): bigint {
  return ((value % MODULUS) + MODULUS) % MODULUS;
}

function textOf(row: UnsealedKey): string {
  const { scope, key, args_hash, call_id, state, answer, settled_at, instance, rehearsal } = row;
  return JSON.stringify([scope, key, args_hash, call_id, state, answer, settled_at, instance, rehearsal]);
}

function forged({ call_id }: KeyRow): Error {
  return failure('journal_failure', 'repair_needed', `The claim of a key was changed outside the runtime: ${call_id}`, {
    details: {
      gate: 'journal',
      reason: 'claim_forged',
      call_id,
      next: 'run tool-runtime audit verify; restore the state folder, or use a new key after looking at what the call did',
    },
  });
}
