/**
 * npm run fuzz [-- lines seed]: random lines against a real session through the dispatcher.
 *
 * What must hold: every line that holds a message gets exactly one answer with a known code, nothing is thrown, and the
 * session still works afterwards.
 */
import { fuzzDispatcher } from './fuzz/fuzz-dispatcher.ts';

const lines = Number(process.argv[2] ?? 1_000_000);
const seed = Number(process.argv[3] ?? Date.now() % 2 ** 31);
console.log(`fuzz: ${lines} lines, seed ${seed}`);
const report = await fuzzDispatcher({ lines, seed });
console.log(JSON.stringify(report));
