/** The tree without entries, which git knows by itself. It depends on the repository's kind of hash. */
import type { GitConfig } from '../contracts/git.ts';

const EMPTY_SHA1 = '4b825dc642cb6eb9a060e54bf8d69288fbee4904';
const EMPTY_SHA256 = '6ef19b41225c5369f1c104d45d8d85efa9b057b53b14b4b9b939dd74decc5321';

export function emptyTree(config: GitConfig): string {
  return config.get('extensions.objectformat')?.toLowerCase() === 'sha256' ? EMPTY_SHA256 : EMPTY_SHA1;
}
