/**
 * Two-byte characters scattered in binary content, such as the texts of a program: every other byte is zero.
 *
 * Single zeros are taken out and longer rows of them become line ends; what is found is then looked up in the content.
 * The alignment and the order of the bytes do not matter that way.
 */
import type { SecretMatch } from './secret-finding.ts';

const WIDE_RUN = /[!-~]\0[!-~]\0[!-~]\0[!-~]\0[!-~]\0[!-~]\0/;

/** Undefined when there are none. */
export function narrowText(text: string): string | undefined {
  if (!WIDE_RUN.test(text)) return undefined;
  return text.replace(/\0{2,}/g, '\n').replaceAll('\0', '');
}

/** Matches of the narrowed text, in order, with their places in the text itself. Reads the text once. */
export function widenMatches(matches: readonly SecretMatch[], text: string): readonly SecretMatch[] {
  const placeOf = placeFinder(text);
  return matches.map((match) => ({ ...match, start: placeOf(match.start), end: placeOf(match.end - 1) + 1 }));
}

/** The place in the text of a character of the narrowed one; asked for in ascending order. */
function placeFinder(text: string): (target: number) => number {
  let at = 0;
  let narrow = 0;
  return (target) => {
    for (;;) {
      const zero = text.indexOf('\0', at);
      const plain = (zero === -1 ? text.length : zero) - at;
      if (target - narrow < plain || zero === -1) break;
      let end = zero + 1;
      while (text.charCodeAt(end) === 0) end += 1;
      const isRow = end - zero > 1;
      if (isRow && target - narrow === plain) break;
      narrow += plain + (isRow ? 1 : 0);
      at = end;
    }
    return at + target - narrow;
  };
}
