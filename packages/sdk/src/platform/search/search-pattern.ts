/** What is wrong with a search pattern, in words for whoever wrote it. */
import { ToolError } from '@tool-runtime/protocol';
import type { SearchQuery } from '../../contracts/search.ts';

const MAX_SHOWN = 200;
const FIX_PATTERN = 'correct the regular expression, or set fixed to true to search for plain text';
const ALLOW_LINES = 'set multiline to true to match across lines';

/** Throws E_VALIDATION_FAIL for a pattern that no program can be given. */
export function checkPattern({ pattern }: SearchQuery): void {
  if (pattern.includes('\0')) throw badPattern('it holds a NUL character, which no text file does', FIX_PATTERN);
  if (!pattern.isWellFormed()) throw badPattern('it holds half of a surrogate pair', FIX_PATTERN);
}

/** Ripgrep's complaint, without its name, the picture of the pattern, and advice about options that callers lack. */
export function explainPattern(complaint: string): ToolError {
  const [first = ''] = complaint.split('\n');
  const parsed = /^error: (.*)$/m.exec(complaint)?.[1];
  const why = (parsed ?? first.replace(/^rg: /, '')).replace(/[\p{Cc}\p{Cf}]/gu, '?');
  return badPattern(
    why.length > MAX_SHOWN ? `${why.slice(0, MAX_SHOWN)}…` : why,
    complaint.includes('multiline mode') ? ALLOW_LINES : FIX_PATTERN,
  );
}

function badPattern(why: string, next: string): ToolError {
  return new ToolError('E_VALIDATION_FAIL', `Pattern cannot be searched for: ${why}`, {
    path: 'pattern',
    details: { reason: 'invalid_pattern', next },
  });
}
