/** The old name as a word of its own in strings and comments. */
import type { FileScopes, TextPart } from '../scope-model.ts';

export interface FoundWord {
  readonly start: number;
  readonly kind: TextPart['kind'];
}

export function findWords({ source, texts, nameCharacter }: FileScopes, name: string): FoundWord[] {
  return texts.flatMap(({ start, end, kind }) =>
    wordsIn(source.text.slice(start, end), name, nameCharacter).map((at) => ({ start: start + at, kind })),
  );
}

/** Offsets of a name that is not part of a longer one. */
export function wordsIn(text: string, name: string, character: RegExp): number[] {
  const found: number[] = [];
  for (let at = text.indexOf(name); at !== -1; at = text.indexOf(name, at + 1)) {
    if (!character.test(text.charAt(at - 1)) && !character.test(text.charAt(at + name.length))) found.push(at);
  }
  return found;
}
