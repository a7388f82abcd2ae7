/** A message whose code is at its end, after a mark of the format. Plain searches: no pattern can run away on it. */

export interface CodedMessage {
  readonly message: string;
  readonly code?: string;
}

const CODE = /^[A-Za-z@-][\w@/.:=+(),-]*$/;

/** `message (code)`, `message [code]`. */
export function splitBracketed(text: string, open: '(' | '['): CodedMessage {
  const close = open === '(' ? ')' : ']';
  const at = text.endsWith(close) ? text.lastIndexOf(` ${open}`) : -1;
  return at < 1 ? { message: text } : coded(text, at, text.slice(at + 2, -1));
}

/** `message  code`: two blanks in between. */
export function splitSpaced(text: string): CodedMessage {
  const at = text.lastIndexOf('  ');
  return at < 1 ? { message: text } : coded(text, at, text.slice(at + 2));
}

function coded(text: string, end: number, code: string): CodedMessage {
  return CODE.test(code) ? { message: text.slice(0, end).trimEnd(), code } : { message: text };
}
