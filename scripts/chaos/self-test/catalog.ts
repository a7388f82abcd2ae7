/** What each oracle is shown, one line for each kind. */
export { journalCases } from './journal-cases.ts';
export { storageCases } from './storage-cases.ts';
export { worldCases } from './world-cases.ts';
