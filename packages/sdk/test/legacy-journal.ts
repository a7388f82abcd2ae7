/** Turns a journal that was never rotated into one of an older version: its chain, its tables, its number, no heads. */
import { readFileSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { createSeal } from '../src/journal/store/block-body.ts';
import { GENESIS } from '../src/journal/store/block-chain.ts';

const SINCE: Readonly<Record<1 | 2 | 3, string>> = {
  3: '',
  2: 'ALTER TABLE key_claim DROP COLUMN instance; ALTER TABLE key_claim DROP COLUMN rehearsal;',
  1: `ALTER TABLE key_claim DROP COLUMN instance; ALTER TABLE key_claim DROP COLUMN rehearsal;
    ALTER TABLE key_claim DROP COLUMN settled_at; DROP TABLE archive;`,
};

interface Block {
  readonly first_seq: number;
  readonly count: number;
  readonly at_ms: number;
  readonly body: string;
}

export function makeLegacy(state: string, version: 1 | 2 | 3): void {
  const seal = createSeal(readFileSync(join(state, 'journal.key')));
  const database = new DatabaseSync(join(state, 'journal.db'));
  const blocks = database.prepare('SELECT first_seq, count, at_ms, body FROM block ORDER BY first_seq').all();
  const update = database.prepare('UPDATE block SET body = ?, mac = unhex(?), claims = NULL WHERE first_seq = ?');
  let { mac } = GENESIS;
  for (const block of blocks as unknown as Block[]) {
    const body = block.body.replaceAll(/,"marked_by":"[^"]*"/g, '');
    mac = seal(mac, { ...block, body });
    update.run(body, mac, block.first_seq);
  }
  database.exec(`DROP INDEX block_total; DROP TRIGGER first_block; DROP TABLE birth;
    ALTER TABLE block DROP COLUMN claims; ALTER TABLE key_claim DROP COLUMN mac; ALTER TABLE instance DROP COLUMN mac;
    ${SINCE[version]} PRAGMA user_version = ${version}`);
  database.close();
  rmSync(join(state, 'heads'), { recursive: true, force: true });
}
