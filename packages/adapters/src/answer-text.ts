/** Text for a model, cut to a number of bytes with a marker that says so: an answer never floods a context window. */
import { ERROR_GUIDE, type ErrorEntry, utf8Length } from '@tool-runtime/protocol';

const DEFAULT_MAX_TEXT_BYTES = 32_768;

/** The whole text when it fits; otherwise its beginning, whole characters only, and the marker on a line of its own. */
export function boundText(text: string, maxBytes: number = DEFAULT_MAX_TEXT_BYTES): string {
  if (text.length * 3 <= maxBytes) return text;
  const total = utf8Length(text);
  if (total <= maxBytes) return text;
  const shown = cutToBytes(text, maxBytes);
  const marker = `[cut: ${utf8Length(shown)} of ${total} bytes shown; ask for a smaller part to see the rest]`;
  return `${shown}\n${marker}`;
}

function cutToBytes(text: string, maxBytes: number): string {
  const bytes = new TextEncoder().encode(text.slice(0, maxBytes));
  if (bytes.length <= maxBytes) return wholeCharacters(text.slice(0, maxBytes));
  let end = maxBytes;
  // Bytes of the form 10xxxxxx continue a character that began earlier.
  while (end > 0 && ((bytes[end] ?? 0) & 0xc0) === 0x80) end--;
  return new TextDecoder().decode(bytes.subarray(0, end));
}

function wholeCharacters(text: string): string {
  const last = text.charCodeAt(text.length - 1);
  return last >= 0xd800 && last <= 0xdbff ? text.slice(0, -1) : text;
}

/**
 * Errors in words that a model can act on: what happened, who decided and where, what to do instead.
 *
 * "Refused" is kept for calls that a gate stopped; a tool that ran and did not succeed "failed".
 */
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
