/** Another process with the write lock of a journal: a database shell, or a host that was stopped in a transaction. */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';

const HOLDER = `
  const { DatabaseSync } = require('node:sqlite');
  const database = new DatabaseSync(process.argv[1], { timeout: 10_000 });
  require('node:readline').createInterface({ input: process.stdin }).on('line', (word) => {
    database.exec(word === 'hold' ? 'BEGIN IMMEDIATE; UPDATE mark SET seq = seq' : 'ROLLBACK');
    console.log(word);
  }).on('close', () => process.exit());`;

export interface JournalHolder {
  readonly pid: number;
  /** Resolves when the lock is held. */
  hold(): Promise<void>;
  /** Resolves when the lock is free. */
  release(): Promise<void>;
  /** Ends the process, stopped or not; the kernel frees its lock. */
  kill(): Promise<void>;
}

export function startJournalHolder(stateFolder: string): JournalHolder {
  const { NODE_TEST_CONTEXT: _, ...environment } = process.env;
  const child = spawn(process.execPath, ['-e', HOLDER, join(stateFolder, 'journal.db')], {
    env: environment,
    stdio: ['pipe', 'pipe', 'inherit'],
  });
  const ended = once(child, 'close');
  const tell = async (word: string): Promise<void> => {
    child.stdin.write(`${word}\n`);
    await Promise.race([
      once(child.stdout, 'data'),
      ended.then(() => Promise.reject(new TypeError('The holder ended'))),
    ]);
  };
  return {
    pid: child.pid ?? -1,
    hold: () => tell('hold'),
    release: () => tell('release'),
    async kill() {
      child.kill('SIGKILL');
      await ended;
    },
  };
}
