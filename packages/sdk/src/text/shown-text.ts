/** A piece of a file as messages carry it: cut, on one line, without characters that could forge a log or a terminal. */

const SHOWN_CHARACTERS = 160;
const MAX_BYTES_OF_CHARACTER = 4;
const UNPRINTABLE = /[\p{Cc}\p{Cf}\p{Cs}\p{Zl}\p{Zp}]/gu;

export function shownText(text: string): string {
  const cut = text.length > SHOWN_CHARACTERS ? `${text.slice(0, SHOWN_CHARACTERS).toWellFormed()}…` : text;
  return cut.replace(UNPRINTABLE, shownCharacter);
}

export function shownBytes(bytes: Buffer, start: number, end: number): string {
  const most = start + (SHOWN_CHARACTERS + 1) * MAX_BYTES_OF_CHARACTER;
  return shownText(bytes.toString('utf8', start, Math.min(end, most)));
}

function shownCharacter(character: string): string {
  if (character === '\t') return '\\t';
  if (character === '\r') return '\\r';
  return `\\u{${(character.codePointAt(0) ?? 0).toString(16)}}`;
}
