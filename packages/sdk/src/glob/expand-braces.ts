/**
 * Turns `{a,b}` groups into the plain patterns they stand for, nested groups included.
 *
 * Groups multiply, so both the number of alternatives and their total length are bounded while they grow.
 * Escapes and character classes pass through untouched; the segment parser reads them.
 */
export const MAX_ALTERNATIVES = 256;
export const MAX_EXPANDED_LENGTH = 8192;
export const MAX_BRACE_DEPTH = 8;

type Refuse = (why: string) => never;

interface Reader {
  readonly pattern: string;
  readonly refuse: Refuse;
  at: number;
}

export function expandBraces(pattern: string, refuse: Refuse): readonly string[] {
  if (!pattern.includes('{') && !pattern.includes('}')) return [pattern];
  const reader: Reader = { pattern, refuse, at: 0 };
  return readSequence(reader, 0);
}

/** Reads up to the end, or inside a group up to the `,` or `}` that ends this alternative. */
function readSequence(reader: Reader, depth: number): string[] {
  let found = [''];
  while (reader.at < reader.pattern.length) {
    const character = reader.pattern.charAt(reader.at);
    if (depth > 0 && (character === ',' || character === '}')) return found;
    if (character === '}') reader.refuse('a closing brace has no opening one');
    found = join(found, character === '{' ? readGroup(reader, depth + 1) : [readPlain(reader)], reader.refuse);
  }
  return depth === 0 ? found : reader.refuse('a brace is not closed');
}

function readGroup(reader: Reader, depth: number): string[] {
  if (depth > MAX_BRACE_DEPTH) reader.refuse(`braces are nested deeper than ${MAX_BRACE_DEPTH}`);
  const alternatives: string[] = [];
  let count = 0;
  do {
    reader.at += 1;
    alternatives.push(...readSequence(reader, depth));
    count += 1;
  } while (reader.pattern.charAt(reader.at) === ',');
  reader.at += 1;
  if (count < 2) reader.refuse('a brace group needs at least two alternatives');
  return [...new Set(alternatives)];
}

/** One character, one escape, or one whole character class. */
function readPlain(reader: Reader): string {
  const start = reader.at;
  const character = reader.pattern.charAt(start);
  if (character === '\\') reader.at += 2;
  else if (character === '[') reader.at = classEnd(reader.pattern, start);
  else reader.at += 1;
  return reader.pattern.slice(start, reader.at);
}

function classEnd(pattern: string, open: number): number {
  for (let at = open + 1; at < pattern.length; at += 1) {
    if (pattern.charAt(at) === '\\') at += 1;
    else if (pattern.charAt(at) === ']') return at + 1;
  }
  return open + 1;
}

function join(heads: readonly string[], tails: readonly string[], refuse: Refuse): string[] {
  if (heads.length * tails.length > MAX_ALTERNATIVES) refuse(`braces give more than ${MAX_ALTERNATIVES} alternatives`);
  const joined = heads.flatMap((head) => tails.map((tail) => head + tail));
  const length = joined.reduce((sum, text) => sum + text.length, 0);
  if (length > MAX_EXPANDED_LENGTH) refuse(`braces give more than ${MAX_EXPANDED_LENGTH} characters`);
  return joined;
}
