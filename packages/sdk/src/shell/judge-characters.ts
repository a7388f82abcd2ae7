/**
 * Characters that no command may hold, quoted or not: programs, patterns and readers disagree about them.
 *
 * A regular expression's `\s` takes a no-break space for a border where no shell splits, a carriage return hides the
 * half of a line from its reader, and a NUL ends the text for the kernel but not for us.
 */
import { shellRefusal } from './refusal.ts';

export const MAX_COMMAND_BYTES = 8192;

/** Controls, half pairs, every blank but U+0020 and tab, and everything that shows as nothing. */
const REFUSED = /(?![ \t])[\p{Cc}\p{Cf}\p{Cs}\p{Z}\p{Default_Ignorable_Code_Point}]/u;

interface Judgement {
  readonly reason: string;
  readonly what: string;
  readonly next: string;
}

const NEXT_COMMAND = 'give one line; join commands with &&, ||, ; or |';

function judge(character: string): Judgement {
  if (character === '\n' || character === '\r') {
    return { reason: 'newline', what: 'Line break', next: NEXT_COMMAND };
  }
  if (/\p{Cc}/u.test(character)) {
    return { reason: 'control_character', what: 'Control character', next: 'leave it out' };
  }
  if (/\p{Cs}/u.test(character)) {
    return { reason: 'malformed_text', what: 'Half of a surrogate pair', next: 'send well-formed Unicode' };
  }
  if (/\p{Z}/u.test(character)) {
    return { reason: 'foreign_blank', what: 'Blank that is not U+0020', next: 'separate arguments with plain spaces' };
  }
  return { reason: 'invisible_character', what: 'Invisible character', next: 'leave it out' };
}

function codePoint(character: string): string {
  return `U+${(character.codePointAt(0) ?? 0).toString(16).toUpperCase().padStart(4, '0')}`;
}

/** Throws E_POLICY naming the first such character and its column (from 1, in UTF-16 units). */
export function judgeCharacters(text: string): void {
  const found = REFUSED.exec(text);
  if (found === null) return;
  const { reason, what, next } = judge(found[0]);
  const character = codePoint(found[0]);
  const position = found.index + 1;
  throw shellRefusal(`${what} is not allowed in a command: ${character} at column ${position}`, {
    reason,
    character,
    position,
    next,
  });
}

/** Throws E_POLICY for more than 8 KiB. */
export function judgeSize(bytes: number): void {
  if (bytes <= MAX_COMMAND_BYTES) return;
  throw shellRefusal(`Command is longer than ${MAX_COMMAND_BYTES} bytes: ${bytes}`, {
    reason: 'too_long',
    next: 'put long input into a file or stdin',
  });
}
