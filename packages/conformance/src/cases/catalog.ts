/** Every group of cases, one line each. */
export { cancellation } from './cancellation.ts';
export { commands } from './commands.ts';
export { crashes } from './crashes.ts';
export { edits } from './edits.ts';
export { idempotency } from './idempotency.ts';
export { journal } from './journal.ts';
export { options } from './options.ts';
export { paths } from './paths.ts';
export { races } from './races.ts';
export { secrets } from './secrets.ts';
