/**
 * The canonical text of an argument list: what allowlist patterns are matched against.
 *
 * It is the line one would have to write to get these words: one blank between them, and single quotes around a word
 * that would otherwise not stand for itself. Different lists have different texts, so the border between two words
 * cannot be faked from inside one of them: `npm test` given as one word becomes `'npm test'`.
 */

function quoteWord(word: string): string {
  if (!/^$|^[#~!]|[=:]~|[\s\p{C}\p{Z}'"\\$`(){}<>&|;*?[]/u.test(word)) return word;
  // An apostrophe cannot stand in single quotes; the parser knows no backslash outside quotes.
  return `'${word.replaceAll("'", `'"'"'`)}'`;
}

export function joinArgv(argv: readonly string[]): string {
  return argv.map(quoteWord).join(' ');
}
