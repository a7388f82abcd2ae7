/**
 * A few texts that a pattern is meant for, taken from its own words: alternatives one by one, the rest as short as it
 * can be. The caller tests them, so a construct that is not read here costs a sample and nothing else.
 */

const MAX_SAMPLES = 24;
const CLASSES: Readonly<Record<string, string>> = { d: '1', w: 'a', s: ' ', S: 'a', D: 'a', W: '-', b: '' };

interface Reader {
  readonly source: string;
  at: number;
}

export function sampleTexts(source: string): readonly string[] {
  const reader: Reader = { source: source.replace(/^\(\?[a-zA-Z]+\)/, ''), at: 0 };
  return [...new Set(readAlternatives(reader).map((text) => text.trim()))].filter((text) => text !== '');
}

function readAlternatives(reader: Reader): readonly string[] {
  const found = [...readSequence(reader)];
  while (reader.source[reader.at] === '|') {
    reader.at += 1;
    found.push(...readSequence(reader));
  }
  return found.slice(0, MAX_SAMPLES);
}

function readSequence(reader: Reader): readonly string[] {
  let texts: readonly string[] = [''];
  while (reader.at < reader.source.length && !'|)'.includes(reader.source[reader.at] ?? '')) {
    const pieces = readRepeated(reader);
    texts = texts.flatMap((text) => pieces.map((piece) => text + piece)).slice(0, MAX_SAMPLES);
  }
  return texts;
}

/** What may be left out is tried both ways. */
function readRepeated(reader: Reader): readonly string[] {
  const once = readAtom(reader);
  const [mark = ''] = /^(?:[*+?]|\{\d+(?:,\d*)?\})\??/.exec(reader.source.slice(reader.at)) ?? [];
  reader.at += mark.length;
  const least = Number(/^\{(\d+)/.exec(mark)?.[1] ?? 1);
  const repeated = once.map((text) => text.repeat(Math.max(1, Math.min(least, 8))));
  return /^[*?]|^\{0/.test(mark) ? ['', ...repeated] : repeated;
}

function readAtom(reader: Reader): readonly string[] {
  const character = reader.source[reader.at++] ?? '';
  if (character === '^' || character === '$') return [''];
  if (character === '.') return ['a'];
  if (character === '\\') {
    const escaped = reader.source[reader.at++] ?? '';
    return [CLASSES[escaped] ?? escaped];
  }
  if (character === '[') return [readClass(reader)];
  if (character !== '(') return [character];
  const [start = ''] = /^\?(?::|P?<\w+>)/.exec(reader.source.slice(reader.at)) ?? [];
  reader.at += start.length;
  const inner = readAlternatives(reader);
  reader.at += 1;
  return inner;
}

/** The first character of the class, or one that an excluding class leaves. */
function readClass(reader: Reader): string {
  const end = reader.source.indexOf(']', reader.at + 1);
  const content = reader.source.slice(reader.at, end < 0 ? undefined : end);
  reader.at = end < 0 ? reader.source.length : end + 1;
  if (content.startsWith('^')) return content.includes('a') ? 'z' : 'a';
  return content.startsWith('\\') ? (CLASSES[content[1] ?? ''] ?? content[1] ?? '') : (content[0] ?? '');
}
