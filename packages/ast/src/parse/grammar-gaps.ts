/**
 * Sound code that a grammar reports as broken, because the language grew after the grammar. The words it does not know
 * are covered, character for character, and the rest is parsed: places and names stay as they are in the file.
 *
 * Only words without meaning for declarations and references may be covered.
 */

interface Gap {
  readonly find: RegExp;
  /** As long as what was found, with line breaks where they were. */
  cover(found: string): string;
}

const blank = (found: string): string => found.replace(/\S/g, ' ');

const TYPESCRIPT: readonly Gap[] = [
  // export type * from './a': TypeScript 5.0
  { find: /(?<=\bexport\s+)type(?=\s+\*)/g, cover: blank },
  // interface Box<in out T>: TypeScript 4.7
  {
    find: /(?<=\b(?:interface|class|type)\s+[\w$]+\s*<(?:[^<>(){};]*,)?\s*)(?:(?:in|out)\s+){1,2}(?=[\p{ID_Start}$_])/gu,
    cover: blank,
  },
  // Call signatures that end with their line: a semicolon takes the place of one blank before the next.
  { find: /(?<=[\w$>\])}"'][ \t]*\r?\n)[ \t](?=[ \t]*<)/g, cover: () => ';' },
];

const GAPS: Readonly<Record<string, readonly Gap[]>> = { typescript: TYPESCRIPT, tsx: TYPESCRIPT.slice(0, 2) };

/** The text with what the grammar does not know covered; undefined when it has nothing of that kind. */
export function coverGaps(language: string, text: string): string | undefined {
  let covered = text;
  for (const { find, cover } of GAPS[language] ?? []) covered = covered.replace(find, cover);
  return covered === text ? undefined : covered;
}
