/** The frames of the language server protocol, read slowly from all bytes at once. */

export interface Frames {
  readonly bodies: readonly Buffer[];
  /** What follows can be no frame. */
  readonly isBroken: boolean;
  /** Nothing of another frame has begun. */
  readonly isAtBorder: boolean;
}

const MAX_HEADER_BYTES = 8 * 1024;
const MAX_BODY_BYTES = 64 * 1024 * 1024;

export function readFrames(bytes: Buffer): Frames {
  const bodies: Buffer[] = [];
  let rest = bytes;
  while (rest.length > 0) {
    const end = rest.indexOf('\r\n\r\n');
    if (end < 0 || end + 4 > MAX_HEADER_BYTES) return { bodies, isBroken: !mayBegin(rest), isAtBorder: false };
    const length = lengthIn(rest.subarray(0, end).toString('latin1'));
    if (length === undefined) return { bodies, isBroken: true, isAtBorder: false };
    if (rest.length < end + 4 + length) return { bodies, isBroken: false, isAtBorder: false };
    bodies.push(rest.subarray(end + 4, end + 4 + length));
    rest = rest.subarray(end + 4 + length);
  }
  return { bodies, isBroken: false, isAtBorder: true };
}

/** Undefined for an invalid header. */
function lengthIn(header: string): number | undefined {
  const lines = header.split('\r\n');
  if (!lines.every((line) => /^[A-Za-z][A-Za-z-]*:[^\r\n]*$/.test(line))) return undefined;
  const lengths = lines.filter((line) => /^content-length:/i.test(line));
  const digits = /^content-length:[ \t]*(\d{1,15})[ \t]*$/i.exec(lengths[0] ?? '')?.[1];
  if (lengths.length !== 1 || digits === undefined || Number(digits) > MAX_BODY_BYTES) return undefined;
  return Number(digits);
}

/** Whether these bytes can go on to be a header. */
function mayBegin(bytes: Buffer): boolean {
  if (bytes.length >= MAX_HEADER_BYTES) return false;
  const lines = bytes.toString('latin1').split('\r\n');
  const last = lines.pop() ?? '';
  const isLast = /^(?:[A-Za-z][A-Za-z-]*(?::[^\r\n]*\r?)?)?$/.test(last) || last === '\r';
  return isLast && lines.every((line) => /^[A-Za-z][A-Za-z-]*:[^\r\n]*$/.test(line));
}
