/**
 * Names as git prints them: one character a byte, because a name need not be UTF-8.
 *
 * Most of them are plain text the workspace can open. The others, git itself has to read and write.
 */
import { isUtf8 } from 'node:buffer';

/** Every character is one byte (`latin1`). */
export type RawPath = string;

const ASCII = /^[\x00-\x7f]*$/;
/** Forms the workspace takes for something else: absolute paths of two systems, and roots of the host. */
const MISREAD = /^(?:[/\\@]|[A-Za-z]:)/;

export function toRaw(path: string): RawPath {
  return ASCII.test(path) ? path : Buffer.from(path, 'utf8').toString('latin1');
}

export function toBytes(path: RawPath): Buffer {
  return Buffer.from(path, 'latin1');
}

/** For answers: bytes that are no text become a replacement character. */
export function toShown(path: RawPath): string {
  return ASCII.test(path) ? path : toBytes(path).toString('utf8');
}

/** The name as the workspace opens it; undefined when only git can. */
export function toPlain(path: RawPath): string | undefined {
  if (MISREAD.test(path)) return undefined;
  if (ASCII.test(path)) return path;
  const bytes = toBytes(path);
  return isUtf8(bytes) ? bytes.toString('utf8') : undefined;
}

/** In double quotes with everything unusual escaped, as git reads names on standard input. */
export function quoted(path: RawPath): string {
  const escaped = path.replace(
    /[\x00-\x1f"\\\x7f-\xff]/g,
    (character) => `\\${character.charCodeAt(0).toString(8).padStart(3, '0')}`,
  );
  return `"${escaped}"`;
}
