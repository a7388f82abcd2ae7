/**
 * Errors in words that a model can act on: what happened, who decided and where, what to do instead.
 *
 * "Refused" is kept for calls that a gate stopped; a tool that ran and did not succeed "failed".
 */
import { ERROR_GUIDE, type ErrorEntry } from '@tool-runtime/protocol';

export function refusalText(errors: readonly ErrorEntry[]): string {
  return errors.map(describe).join('\n\n');
}

function describe(entry: ErrorEntry): string {
  const facts: readonly (readonly [string, unknown])[] = [
    ['Argument', entry.path],
    ['Rule', entry.details?.['rule']],
    ['Decided at', entry.details?.['registry']],
    ['Reason', entry.details?.['reason']],
    ['Next', entry.details?.['next'] ?? usualStep(entry)],
  ];
  const lines = facts.flatMap(([label, value]) => (typeof value === 'string' ? [`${label}: ${value}`] : []));
  return [`${isRefusal(entry) ? 'Refused' : 'Failed'} (${entry.code}): ${entry.message}`, ...lines].join('\n');
}

/** The guide speaks of fields of the envelope, which a model does not see. */
function usualStep({ code, path }: ErrorEntry): string {
  return code === 'E_VALIDATION_FAIL' && path !== undefined ? `correct the argument ${path}` : ERROR_GUIDE[code].next;
}

function isRefusal({ code, details }: ErrorEntry): boolean {
  return code === 'E_POLICY' || (code === 'E_VALIDATION_FAIL' && typeof details?.['gate'] === 'string');
}
