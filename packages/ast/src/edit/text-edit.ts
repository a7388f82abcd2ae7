/** Replacements in a text, in UTF-16 units as the parser counts, and their way into bytes. */
import type { SourceText } from '../parse/source-text.ts';
import { refuseEdit } from './edit-failures.ts';
import type { ByteEdit } from './edit-plan.ts';

export interface TextEdit {
  readonly start: number;
  readonly end: number;
  readonly text: string;
}

/** In file order; the same replacement twice counts once, insertions at one place keep their order. */
export function sortEdits(edits: readonly TextEdit[], path: string): readonly TextEdit[] {
  const seen = new Set<string>();
  const sorted = edits
    .filter(({ start, end, text }) => {
      if (start === end) return text !== '';
      const key = `${start}\0${end}\0${text}`;
      return !seen.has(key) && seen.add(key);
    })
    .toSorted((left, right) => left.start - right.start || left.end - right.end);
  for (const [index, edit] of sorted.entries()) {
    const next = sorted[index + 1];
    if (next === undefined || edit.end <= next.start) continue;
    throw refuseEdit('overlapping_edits', `Edits overlap: ${path}`, {
      path,
      next: 'do them one after the other',
    });
  }
  return sorted;
}

/** Sorted edits as bytes. Throws when the file's encoding has no room for the new text. */
export function toByteEdits(edits: readonly TextEdit[], source: SourceText, path: string): readonly ByteEdit[] {
  return edits.map(({ start, end, text }) => ({
    start: source.toByte(start),
    end: source.toByte(end),
    bytes: encode(text, source, path),
  }));
}

/** A file that is not UTF-8 is read one unit per byte: new text must fit into that. */
function encode(text: string, { encoding }: SourceText, path: string): Uint8Array {
  if (encoding !== 'latin1') return Buffer.from(text.toWellFormed(), 'utf8');
  if (/^[\0-\x7f]*$/.test(text)) return Buffer.from(text, 'latin1');
  throw refuseEdit('not_utf8', `File is not UTF-8 and takes only ASCII: ${path}`, {
    path,
    next: 'convert the file to UTF-8 first, or write ASCII',
  });
}
