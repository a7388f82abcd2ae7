/** Every built-in store, one line each. */
export { createSqliteFindings } from './findings-sqlite.ts';
export { createMemoryJournal } from './journal-memory.ts';
export { openSqliteJournal } from './journal-sqlite.ts';
