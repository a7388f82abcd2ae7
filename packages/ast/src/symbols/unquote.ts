/** A name or import source as people mean it, without the quotes it is written in. */

/** `cut` is how many units went away in front; `prefix` is a sign that goes too, such as the colon of a symbol. */
export function unquote(written: string, prefix = ''): { readonly value: string; readonly cut: number } {
  if (prefix !== '' && written.startsWith(prefix)) return { value: written.slice(prefix.length), cut: prefix.length };
  const first = written[0];
  const isQuoted = written.length > 1 && (first === '"' || first === "'" || first === '`') && written.endsWith(first);
  return isQuoted ? { value: written.slice(1, -1), cut: 1 } : { value: written, cut: 0 };
}
