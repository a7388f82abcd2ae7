/** Inputs of several parts, in one file that a person can read and edit: parts are separated by a line of two percent signs. */

const BORDER = Buffer.from('\n%%\n');

/** Always so many parts: those that are not there are empty, and the last one holds whatever is left. */
export function splitParts(input: Buffer, count: number): readonly Buffer[] {
  const parts: Buffer[] = [];
  let rest = input;
  while (parts.length < count - 1) {
    const at = rest.indexOf(BORDER);
    if (at < 0) break;
    parts.push(rest.subarray(0, at));
    rest = rest.subarray(at + BORDER.length);
  }
  parts.push(rest);
  while (parts.length < count) parts.push(Buffer.alloc(0));
  return parts;
}

export function joinParts(...parts: readonly (string | Uint8Array)[]): Buffer {
  return Buffer.concat(parts.flatMap((part, index) => (index === 0 ? [bytesOf(part)] : [BORDER, bytesOf(part)])));
}

function bytesOf(part: string | Uint8Array): Uint8Array {
  return typeof part === 'string' ? Buffer.from(part) : part;
}
