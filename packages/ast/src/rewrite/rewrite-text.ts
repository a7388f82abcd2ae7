/**
 * What a text becomes when every match of a pattern is replaced, matches inside of matches too.
 *
 * Every match of the original is rewritten once, from the outside in: a replacement that itself matches is not rewritten
 * again, so the work ends. What sits in a part of a match that the replacement drops is dropped with it.
 */
import type { PatternMatch, TextRange } from './pattern-matcher.ts';

export interface Replacement extends TextRange {
  readonly text: string;
}

export interface RewriteContext {
  readonly text: string;
  readonly template: string;
  readonly newline: string;
  /** Indentation of the line an offset is on. */
  indentAt(offset: number): string;
  /** Rows of the text (from 0) that begin inside of a string. */
  isFrozen(offset: number): boolean;
}

const PLACE = /\$(?:\$\$)?([A-Z_][A-Z0-9_]*)/g;

/** Replacements of the outermost matches. */
export function rewriteText(matches: readonly PatternMatch[], context: RewriteContext): readonly Replacement[] {
  return outermost(matches).map((match) => ({
    start: match.start,
    end: match.end,
    text: expand(match, matches, context),
  }));
}

/** `matches` by start, longer first. */
function outermost(matches: readonly PatternMatch[], within?: TextRange): readonly PatternMatch[] {
  const found: PatternMatch[] = [];
  let end = within?.start ?? 0;
  for (const match of matches) {
    if (within !== undefined && (match.start < within.start || match.end > within.end)) continue;
    if (match.start < end) continue;
    found.push(match);
    end = match.end;
  }
  return found;
}

function expand(match: PatternMatch, matches: readonly PatternMatch[], context: RewriteContext): string {
  const outer = context.indentAt(match.start);
  const inner = matches.filter((one) => one !== match && match.start <= one.start && one.end <= match.end);
  const lines = context.template.split(/\r?\n/).map((line, row) => {
    const indent = outer + (/^[ \t]*/.exec(line)?.[0] ?? '');
    const filled = line.replace(PLACE, (whole, name: string) => {
      if (!match.captures.has(name)) return whole;
      const capture = match.captures.get(name);
      return capture === undefined ? '' : copied(capture, inner, { ...context, indent });
    });
    return row === 0 || line === '' ? filled : outer + filled;
  });
  return lines.join(context.newline);
}

/** A captured part with its own matches rewritten, its further lines moved to the new indentation. */
function copied(
  capture: TextRange,
  matches: readonly PatternMatch[],
  context: RewriteContext & { readonly indent: string },
): string {
  let made = '';
  let at = capture.start;
  for (const { start, end, text } of outermost(matches, capture).map((match) => ({
    ...match,
    text: expand(match, matches, context),
  }))) {
    made += moved(at, start, capture, context) + text;
    at = end;
  }
  return made + moved(at, capture.end, capture, context);
}

function moved(
  start: number,
  end: number,
  capture: TextRange,
  { text, indent, indentAt, isFrozen }: RewriteContext & { readonly indent: string },
): string {
  const old = indentAt(capture.start);
  const part = text.slice(start, end);
  if (old === indent || !part.includes('\n')) return part;
  let at = start;
  return part
    .split('\n')
    .map((line, row) => {
      const from = at;
      at += line.length + 1;
      return row === 0 || isFrozen(from) || !line.startsWith(old) ? line : indent + line.slice(old.length);
    })
    .join('\n');
}
