/** Single words joined to the declaration that contains them: visibility, accessor keywords. */
import { firstFrom } from './first-from.ts';
import type { NestedDeclaration } from './nest-declarations.ts';
import type { RawText } from './raw-facts.ts';

/** Those between its start and its name, and those before the first declaration of a wrapper. `sorted` by start. */
export function wordsBeforeName(sorted: readonly RawText[], declaration: NestedDeclaration): string[] {
  if (sorted.length === 0) return [];
  const own = wordsBetween(sorted, declaration.start, declaration.nameSpan.start);
  const outermost = declaration.wrappers.at(-1);
  return outermost === undefined ? own : [...wordsBetween(sorted, outermost.start, outermost.headEnd), ...own];
}

function wordsBetween(sorted: readonly RawText[], start: number, end: number): string[] {
  const words: string[] = [];
  for (let at = firstFrom(sorted, start); at < sorted.length; at++) {
    const one = sorted[at];
    if (one === undefined || one.start >= end) break;
    words.push(one.text);
  }
  return words;
}
