/**
 * The digest of a result as it lies on disk, for the journal: it covers every byte, and through the digests in it every
 * output. The run's own digest leaves out messages and times, and anybody can make it anew.
 */
import type { RunFile } from '../../contracts/run-history.ts';
import { digest } from '../../platform/digest.ts';
import type { AcceptedResult } from './accept-result.ts';
import { resultText } from './result-text.ts';

/** `file` is what the tool left: the result itself where nothing had to be rewritten. */
export function resultDigest({ result, rewrite }: AcceptedResult, file: RunFile): string {
  return digest(rewrite || typeof file === 'string' ? resultText(result) : file);
}
