/**
 * The exit code of a run as the protocol has it: 0–9 as the tool ended, 10–17 when it was not run.
 *
 * A run that failed never ends with 0, also where the tool's own code says so.
 */
import type { ToolResponse } from '@tool-runtime/protocol';

/** Could not be run, for a reason that has no code of its own. */
const RUN_FAILED = 14;
const HIGHEST = 17;
const FAILED = 1;

export function exitCodeOf({ ok, data, errors }: Pick<ToolResponse, 'ok' | 'data' | 'errors'>): number {
  const [error] = errors;
  const said = ok ? (data as { readonly exit_code?: unknown } | null)?.exit_code : error?.details?.['exit_code'];
  if (typeof said === 'number' && Number.isInteger(said) && said >= 0 && said <= HIGHEST) {
    return said === 0 && !ok ? FAILED : said;
  }
  // It ran, and was stopped so late that nothing more is known of it.
  return error?.code === 'E_TIMEOUT' ? FAILED : RUN_FAILED;
}
