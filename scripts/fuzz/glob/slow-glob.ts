/**
 * What a glob means, as plainly as it can be written: braces first, then segment by segment, trying everything. Only for
 * patterns that are in order, and only for short ones.
 */

export function matchesSlowly(glob: string, text: string): boolean {
  if (text === '') return false;
  const parts = text === '.' ? [] : text.split('/');
  return withoutBraces(glob).some((alternative) => matchSegments(segmentsOf(alternative), parts));
}

function segmentsOf(alternative: string): readonly string[] {
  const segments = alternative.split('/');
  while (segments[0] === '.') segments.shift();
  return segments;
}

/** The first group that holds no other one, replaced by each of its alternatives. */
export function withoutBraces(glob: string): readonly string[] {
  const [start, end, commas] = innermostGroup(glob);
  if (start < 0) return [glob];
  const borders = [start, ...commas, end];
  return borders
    .slice(0, -1)
    .flatMap((from, index) =>
      withoutBraces(glob.slice(0, start) + glob.slice(from + 1, borders[index + 1]) + glob.slice(end + 1)),
    );
}

function innermostGroup(glob: string): readonly [start: number, end: number, commas: readonly number[]] {
  let start = -1;
  let commas: number[] = [];
  for (let at = 0; at < glob.length; at += lengthAt(glob, at)) {
    const character = glob[at];
    if (character === '{') [start, commas] = [at, []];
    if (character === ',' && start >= 0) commas.push(at);
    if (character === '}' && start >= 0) return [start, at, commas];
  }
  return [-1, -1, []];
}

/** Of one character, one escape or one class. */
function lengthAt(glob: string, at: number): number {
  if (glob[at] === '\\') return 2;
  if (glob[at] !== '[') return 1;
  for (let end = at + 1; end < glob.length; end++) {
    if (glob[end] === '\\') end += 1;
    else if (glob[end] === ']') return end + 1 - at;
  }
  return 1;
}

function isDots(part: string): boolean {
  return part === '.' || part === '..';
}

function matchSegments(segments: readonly string[], parts: readonly string[]): boolean {
  const [segment, ...rest] = segments;
  const [part, ...others] = parts;
  if (segment === undefined) return part === undefined;
  if (segment === '**') {
    if (matchSegments(rest, parts)) return true;
    return part !== undefined && !isDots(part) && matchSegments(segments, others);
  }
  return part !== undefined && matchOne(segment, part) && matchSegments(rest, others);
}

function matchOne(segment: string, part: string): boolean {
  const isWild = /^(?:[^\\]|\\[\s\S])*?[*?[]/.test(segment);
  return !(isWild && (part === '' || isDots(part))) && matchCharacters(segment, part);
}

function matchCharacters(segment: string, part: string): boolean {
  if (segment === '') return part === '';
  const [character = ''] = [segment.charAt(0)];
  if (character === '*')
    return Array.from({ length: part.length + 1 }, (_, at) => at).some((at) =>
      matchCharacters(segment.slice(1).replace(/^\*+/, ''), part.slice(at)),
    );
  if (part === '') return false;
  if (character === '?') return matchCharacters(segment.slice(1), part.slice(1));
  const length = lengthAt(segment, 0);
  const isSame =
    character === '['
      ? isInClass(segment.slice(1, length - 1), part.charCodeAt(0))
      : segment.charAt(length - 1) === part.charAt(0);
  return isSame && matchCharacters(segment.slice(length), part.slice(1));
}

function isInClass(written: string, code: number): boolean {
  const isNegated = written.startsWith('!') || written.startsWith('^');
  const members = [
    ...(isNegated ? written.slice(1) : written).matchAll(/(?:\\([\s\S])|([\s\S]))(?:-(?:\\([\s\S])|([\s\S])))?/g),
  ];
  const isMember = members.some(([, escaped, plain, toEscaped, toPlain]) => {
    const from = (escaped ?? plain ?? '').charCodeAt(0);
    const to = toEscaped ?? toPlain;
    return to === undefined ? code === from : from <= code && code <= to.charCodeAt(0);
  });
  return isMember !== isNegated;
}
