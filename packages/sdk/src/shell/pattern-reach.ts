/**
 * How much of a command an allowlist pattern spells out.
 *
 * A pattern that names a program lets every option through. What makes an allowed program dangerous is let through only
 * by a pattern whose author demonstrably meant it: one that ends with `$` and has the option written out in it.
 */
import { type PatternToken, readPattern } from './pattern-tokens.ts';

/** Between pieces of text that do not touch. No command can hold it. */
const GAP = '\u0000';

function topAlternatives(tokens: readonly PatternToken[]): PatternToken[][] {
  const alternatives: PatternToken[][] = [[]];
  let depth = 0;
  for (const token of tokens) {
    if (token.kind === 'open') depth++;
    if (token.kind === 'close') depth--;
    if (token.kind === 'bar' && depth === 0) alternatives.push([]);
    else if (token.kind !== 'flags') alternatives.at(-1)?.push(token);
  }
  return alternatives;
}

/** Whether every alternative begins with `^` and ends with `$`, so that nothing can follow what it describes. */
export function isFullyAnchored(source: string): boolean {
  return topAlternatives(readPattern(source)).every(
    (alternative) => alternative.at(0)?.kind === 'start' && alternative.at(-1)?.kind === 'end',
  );
}

/** The only text a pattern matches, when it is `^`, plain text and `$`. */
export function literalOf(source: string): string | undefined {
  const tokens = readPattern(source);
  const inner = tokens.slice(1, -1);
  if (tokens.at(0)?.kind !== 'start' || tokens.at(-1)?.kind !== 'end') return undefined;
  return inner.every(({ kind }) => kind === 'literal') ? inner.map(({ text }) => text).join('') : undefined;
}

/** What the pattern spells out. A repeated character counts once if it must occur, else not at all. */
function spelledText(source: string): string {
  let text = '';
  for (const token of readPattern(source)) {
    if (token.kind === 'literal') text += token.text;
    else if (token.kind === 'blank') text += ' ';
    else if (token.kind === 'repeat' && token.text === '+') continue;
    else if (token.kind === 'repeat') text = text.slice(0, -1) + GAP;
    else text += GAP;
  }
  return text;
}

/** Whether `words` stand in the pattern letter by letter, as whole words. */
export function spellsOut(source: string, words: string): boolean {
  const text = `${GAP}${spelledText(source)}${GAP}`;
  const isBorder = (character: string | undefined) => character === ' ' || character === GAP;
  for (let at = text.indexOf(words); at !== -1; at = text.indexOf(words, at + 1)) {
    if (isBorder(text[at - 1]) && isBorder(text[at + words.length])) return true;
  }
  return false;
}

/** The program a pattern speaks about, as far as it is spelled out. */
export function programOf(source: string): string {
  const literals = topAlternatives(readPattern(source))[0]?.slice(1) ?? [];
  const end = literals.findIndex(({ kind, text }) => kind !== 'literal' || !/[A-Za-z0-9._+-]/.test(text));
  return literals
    .slice(0, end === -1 ? undefined : end)
    .map(({ text }) => text)
    .join('');
}
