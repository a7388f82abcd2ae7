/** File names in the header lines of a diff: quoted or plain, with or without a time after a tab. */

const ESCAPES: Readonly<Record<string, number>> = { a: 7, b: 8, t: 9, n: 10, v: 11, f: 12, r: 13, '"': 34, '\\': 92 };
const QUOTED = /^"((?:[^"\\]|\\.)*)"/;
const NO_FILE = '/dev/null';

/** The name after `--- ` or `+++ `; null for `/dev/null`, undefined for none. `text` holds one byte a character. */
export function headerName(text: string): string | null | undefined {
  const name = QUOTED.test(text) ? quotedName(text) : decoded(text.split('\t', 1)[0] ?? '').trimEnd();
  if (name === NO_FILE) return null;
  return name === '' ? undefined : name;
}

/** The names after `diff --git `. Undefined where spaces make them ambiguous: then the other header lines must do. */
export function gitNames(text: string): { readonly oldName: string; readonly newName: string } | undefined {
  const line = text.trimEnd();
  const quoted = QUOTED.exec(line);
  if (quoted !== null) {
    const rest = line.slice(quoted[0].length + 1);
    return { oldName: quotedName(line), newName: rest.startsWith('"') ? quotedName(rest) : decoded(rest) };
  }
  const quote = line.indexOf(' "');
  if (quote !== -1) return { oldName: decoded(line.slice(0, quote)), newName: quotedName(line.slice(quote + 1)) };
  const half = (line.length - 1) / 2;
  const [left, right] = [line.slice(0, half), line.slice(half + 1)];
  const isTwice = line[half] === ' ' && withoutPrefix(left) === withoutPrefix(right);
  if (isTwice) return { oldName: decoded(left), newName: decoded(right) };
  const parts = line.split(' ');
  if (parts.length !== 2) return undefined;
  return { oldName: decoded(parts[0] ?? ''), newName: decoded(parts[1] ?? '') };
}

/** Without the `a/` and `b/` that git puts before names (and `i/`, `w/`, `c/`, `o/` when it is asked to). */
export function withoutPrefix(name: string): string {
  return /^[abciow]\//.test(name) ? name.slice(2) : name;
}

function quotedName(text: string): string {
  const inner = QUOTED.exec(text)?.[1] ?? '';
  const raw = inner.replace(/\\([0-7]{1,3}|.)/g, (whole, code: string) => {
    const byte = /^[0-7]/.test(code) ? Number.parseInt(code, 8) & 0xff : ESCAPES[code];
    return byte === undefined ? whole : String.fromCharCode(byte);
  });
  return decoded(raw);
}

function decoded(oneBytePerCharacter: string): string {
  return Buffer.from(oneBytePerCharacter, 'latin1').toString('utf8');
}
