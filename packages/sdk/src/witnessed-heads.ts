/** What a witness has recorded of the journal in a state folder. */
import type { ChainHead } from './contracts/journal.ts';
import { realPathIfAny } from './platform/descriptors/trace-path.ts';
import { readWitness } from './platform/state/witness-file.ts';

export function witnessedHeads(file: string, state: string): readonly ChainHead[] {
  return readWitness(file, realPathIfAny(state));
}
