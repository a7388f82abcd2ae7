/**
 * Output of programs, tools and servers as one line for people: colours and other terminal sequences are removed, line
 * breaks become spaces, and what is left is made safe. For messages only; contents and output are passed on unchanged.
 */
import { safeText } from '@tool-runtime/protocol/internal';

/** Sequences go as a whole, or their parameters would be left behind as text. */
const SEQUENCES =
  /(?:\u001b\[|\u009b)[0-?]*[ -/]*[@-~]|(?:\u001b\]|\u009d)[^\u0007\u001b\u009c]*(?:\u0007|\u001b\\|\u009c)?/g;
const LAYOUT = /[\t\n\v\f\r\u0085\u2028\u2029]+/g;

export function plainMessage(text: string): string {
  const plain = text.replace(SEQUENCES, '').replace(LAYOUT, ' ');
  return safeText(plain, plain.length);
}
