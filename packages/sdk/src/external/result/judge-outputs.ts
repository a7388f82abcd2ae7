/**
 * The files a tool says it made, each looked at: digest and size filled in or confirmed, anything else dropped.
 *
 * A dropped one leaves a warning, so a run that listed it is at best partial.
 */
import { isToolError } from '@tool-runtime/protocol';
import type { RunEntry, RunOutput } from '../../contracts/external.ts';
import { shownPath } from '../../platform/descriptors/path-rules.ts';
import { sameDigest } from '../protocol/digests.ts';
import { EXTERNAL_LIMITS, RESULT_FILE } from '../protocol/protocol-constants.ts';

/** Throws ToolError E_VALIDATION_FAIL for a path that may not be an output. */
export type CheckOutput = (path: string) => Promise<{ readonly bytes: number; readonly digest: string }>;

export interface JudgedOutputs {
  readonly outputs: readonly RunOutput[];
  readonly warnings: readonly RunEntry[];
}

export async function judgeOutputs(claimed: readonly RunOutput[], check: CheckOutput): Promise<JudgedOutputs> {
  const outputs: RunOutput[] = [];
  const warnings: RunEntry[] = [];
  const seen = new Set<string>();
  for (const output of claimed.slice(0, EXTERNAL_LIMITS.outputs)) {
    const judged = seen.has(output.path) ? 'listed_twice' : await judgeOutput(output, check);
    seen.add(output.path);
    if (typeof judged === 'string') warnings.push(dropped(judged, output.path));
    else outputs.push(judged);
  }
  if (claimed.length > EXTERNAL_LIMITS.outputs) warnings.push(dropped('too_many'));
  return { outputs, warnings };
}

/** The entry as it is in fact, or why it is dropped. */
async function judgeOutput(output: RunOutput, check: CheckOutput): Promise<RunOutput | string> {
  // It is about to be rewritten, and its digest with it.
  if (output.path === RESULT_FILE) return 'reserved';
  try {
    const { bytes, digest } = await check(output.path);
    if (output.digest && !sameDigest(output.digest, digest)) return 'digest_mismatch';
    return { ...output, digest, bytes };
  } catch (thrown) {
    if (!isToolError(thrown) || thrown.code !== 'E_VALIDATION_FAIL') throw thrown;
    return String(thrown.details['reason'] ?? 'invalid');
  }
}

function dropped(reason: string, path?: string): RunEntry {
  const about = path === undefined ? {} : { path: shownPath(path) };
  return { code: 'INVALID_OUTPUT_PATH', message: `Output was dropped: ${reason}`, ...about, details: { reason } };
}
