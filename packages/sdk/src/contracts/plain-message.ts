/**
 * Text of programs, tools and servers as one line that people are shown: without what would steer a terminal or turn the
 * direction of writing. For messages alone; contents and output are passed on as they are.
 */

const STEERING = /[\p{Cc}\p{Cs}\u061c\u200e\u200f\u2028\u2029\u202a-\u202e\u2066-\u2069]/u;
const EVERY_STEERING = new RegExp(STEERING, 'gu');
/** Sequences go as a whole, or their parameters would be left behind as text. */
const SEQUENCES =
  /(?:\u001b\[|\u009b)[0-?]*[ -/]*[@-~]|(?:\u001b\]|\u009d)[^\u0007\u001b\u009c]*(?:\u0007|\u001b\\|\u009c)?/g;
const LAYOUT = /[\t\n\v\f\r\u0085\u2028\u2029]+/g;

export function plainMessage(text: string): string {
  if (!STEERING.test(text)) return text;
  return text.replace(SEQUENCES, '').replace(LAYOUT, ' ').replace(EVERY_STEERING, '');
}
