/**
 * Numbers and one text as one block of bytes: what crosses processes and lies in the database. Reading it back makes two
 * objects however many declarations it describes; strings are cut from the text when they are asked for.
 */
export interface Packed {
  readonly ints: Int32Array;
  readonly text: string;
}

const HEADER_BYTES = 8;
const WIDE = /[^\u0000-\u00ff]/;

export function pack({ ints, text }: Packed): Uint8Array<ArrayBuffer> {
  const isWide = WIDE.test(text);
  const textBytes = Buffer.from(text, isWide ? 'utf16le' : 'latin1');
  const bytes = new Uint8Array(HEADER_BYTES + ints.byteLength + textBytes.byteLength);
  new Int32Array(bytes.buffer, 0, 2).set([ints.length, isWide ? 1 : 0]);
  new Int32Array(bytes.buffer, HEADER_BYTES, ints.length).set(ints);
  bytes.set(textBytes, HEADER_BYTES + ints.byteLength);
  return bytes;
}

/** Of bytes that `pack` made and nothing changed since. */
export function unpack(bytes: Uint8Array): Packed {
  const own = bytes.byteOffset % 4 === 0 ? bytes : new Uint8Array(bytes);
  const [length = 0, isWide = 0] = new Int32Array(own.buffer, own.byteOffset, 2);
  const ints = new Int32Array(own.buffer, own.byteOffset + HEADER_BYTES, length);
  const start = HEADER_BYTES + ints.byteLength;
  const text = Buffer.from(own.buffer, own.byteOffset + start, own.byteLength - start);
  return { ints, text: text.toString(isWide === 1 ? 'utf16le' : 'latin1') };
}
