/**
 * Double-quoted patterns such as "^cargo(\s|$)" are not YAML, yet the registry format is documented with them.
 *
 * Only a scalar that holds an escape YAML does not know is touched: in it every backslash is taken literally, so that
 * `\s` and `\b` of one pattern mean the same language. Valid scalars elsewhere keep their YAML meaning.
 * The tokens are changed in place, not the text, so every position stays the one the author sees.
 */
import { type Document, isScalar, Scalar, visit, type YAMLError } from 'yaml';

interface MendedScalar {
  readonly offset: number;
}

/** An escaped quote and an escaped line end have no literal reading and stay. */
function doubleBackslashes(source: string): string {
  return source.replace(/\\(\r?\n|[\s\S])/g, (pair, next: string) => {
    if (next === '"' || next.endsWith('\n')) return pair;
    return next === '\\' ? '\\\\\\\\' : `\\\\${next}`;
  });
}

/** Whether the invalid escape is the one and only kind of failure. */
export function canMendEscapes(errors: readonly YAMLError[]): boolean {
  return errors.length > 0 && errors.every((error) => error.code === 'BAD_DQ_ESCAPE');
}

/** Rewrites the source tokens of the scalars that failed; composing the same tokens again gives the intended text. */
export function mendEscapes(document: Document.Parsed, errors: readonly YAMLError[]): readonly MendedScalar[] {
  const failed = errors.map((error) => error.pos[0]).toSorted((left, right) => left - right);
  let next = 0;
  const mended: MendedScalar[] = [];
  visit(document, {
    Scalar(_key, node) {
      const token = isScalar(node) ? node.srcToken : undefined;
      if (token === undefined || node.type !== Scalar.QUOTE_DOUBLE || !('source' in token)) return;
      const end = token.offset + token.source.length;
      // Scalars are visited in the order of the text, so one pass over the failures serves all of them.
      while ((failed[next] ?? end) < token.offset) next++;
      if ((failed[next] ?? end) >= end) return;
      token.source = doubleBackslashes(token.source);
      mended.push({ offset: token.offset });
    },
  });
  return mended;
}
