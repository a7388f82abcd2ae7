/** Every built-in store, one line each. */
export { createMemoryJournal } from './journal-memory.ts';
export { openSqliteJournal } from './journal-sqlite.ts';
