/** A command as it may be shown: a list of words, or a line whose spelling stays as it was around the secrets. */
import { type OnSecret, redactWords } from './redact-words.ts';

/** A run of quoted and unquoted pieces. */
const WORD = /(?:"(?:[^"\\]|\\.)*(?:"|$)|'[^']*(?:'|$)|\\.|[^\s"'\\;|&]+)+/gs;
const MAX_NESTING = 3;

export function redactCommandLine(line: string, onSecret: OnSecret = () => {}, depth = 0): string {
  const found = [...line.matchAll(WORD)];
  const words = found.map(([raw]) => unquoted(raw));
  const shown = redactInside(redactWords(words, onSecret), depth);
  let clean = '';
  let from = 0;
  for (const [at, { 0: raw, index }] of found.entries()) {
    const word = shown[at] ?? '';
    clean += line.slice(from, index) + (word === words[at] ? raw : requoted(raw, word));
    from = index + raw.length;
  }
  return clean + line.slice(from);
}

/** Words that are commands themselves, as those after `sh -c`. What is in them is hidden here and looked for nowhere. */
export function redactInside(words: readonly string[], depth = 0): readonly string[] {
  if (depth >= MAX_NESTING) return words;
  return words.map((word) => (/\s/.test(word) ? redactCommandLine(word, () => {}, depth + 1) : word));
}

export function redactArgv(words: readonly string[], onSecret: OnSecret = () => {}): readonly string[] {
  return redactInside(redactWords(words, onSecret));
}

function unquoted(raw: string): string {
  return raw.replace(/"((?:[^"\\]|\\.)*)(?:"|$)|'([^']*)(?:'|$)|\\(.)/gs, (_, double, single, escaped) =>
    double === undefined ? (single ?? escaped) : (double as string).replace(/\\(["\\$`])/g, '$1'),
  );
}

function requoted(raw: string, word: string): string {
  const quote = /["']/.exec(raw)?.[0];
  return quote === undefined ? word : quote + word + quote;
}
