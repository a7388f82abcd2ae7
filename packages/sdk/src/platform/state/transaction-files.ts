/** Which transactions are open, for all processes of a state folder: one small file for each, named after its owner. */
import { randomUUID } from 'node:crypto';
import { closeSync, mkdirSync, openSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { isJsonObject, type JsonValue } from '@tool-runtime/protocol';
import type { OpenTransaction } from '../../contracts/transactions.ts';
import { listOwnEntries } from '../descriptors/directory-entry.ts';
import { inState } from '../descriptors/state-safety.ts';
import { errnoCode } from '../errno-error.ts';
import { DIRECTORY_HANDLE } from '../open-flags.ts';
import { isOwnerDead, OWN_TAG } from '../processes/process-identity.ts';

const FOLDER = 'transactions';

export interface TransactionFiles {
  /** Writes it again with each call, so that others see when it ends. */
  open(): { write(transaction: OpenTransaction): void; remove(): void };
  /** Of living processes, oldest first. What dead ones left is removed. */
  list(): readonly OpenTransaction[];
}

export function createTransactionFiles(state: string): TransactionFiles {
  const folder = join(state, FOLDER);
  return {
    open() {
      const path = join(folder, `${OWN_TAG ?? process.pid}_${randomUUID()}.json`);
      return {
        write: (transaction) =>
          inState(() => {
            mkdirSync(folder, { recursive: true, mode: 0o700 });
            writeFileSync(path, JSON.stringify(transaction), { mode: 0o600 });
          }),
        remove: () => rmSync(path, { force: true }),
      };
    },
    list: () =>
      namesIn(folder)
        .flatMap((name) => {
          const path = join(folder, name);
          if (!isOwnerDead(name.split('_')[0] ?? '')) return read(path);
          rmSync(path, { force: true });
          return [];
        })
        .toSorted((one, other) => one.at - other.at),
  };
}

function namesIn(folder: string): readonly string[] {
  try {
    const fd = openSync(folder, DIRECTORY_HANDLE);
    try {
      return listOwnEntries(fd).map(({ name }) => String(name));
    } finally {
      closeSync(fd);
    }
  } catch (thrown) {
    if (errnoCode(thrown) === 'ENOENT') return [];
    throw thrown;
  }
}

/** Nothing for a file that is being written, or gone. */
function read(path: string): readonly OpenTransaction[] {
  try {
    const found = JSON.parse(readFileSync(path, 'utf8')) as JsonValue;
    return isJsonObject(found) && typeof found['tx_id'] === 'string' ? [found as unknown as OpenTransaction] : [];
  } catch (thrown) {
    if (errnoCode(thrown) === undefined && !(thrown instanceof SyntaxError)) throw thrown;
    return [];
  }
}
