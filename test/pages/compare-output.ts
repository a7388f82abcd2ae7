/** Whether a program printed what a page shows. What differs from run to run is masked; `…` stands for anything in a line. */

const MASKS: readonly (readonly [RegExp, string])[] = [
  [/\b[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}\b/g, '<id>'],
  [/\b[0-9a-f]{64}\b|\b[0-9a-f]{4,16}…(?:[0-9a-f]{4}\b)?/g, '<digest>'],
  [/\b(journal-\d+-\d+)-[0-9a-f]{16}/g, '$1-<digest>'],
  [/\bsess-[0-9a-f]{8}\b/g, 'sess-<id>'],
  [/\b(?:\d{4}-\d\d-\d\d )?\d\d:\d\d:\d\d(?:\.\d{3})?\b/g, '<time>'],
  [/("at_ms": ?)\d{13}/g, '$1<time>'],
  [/("duration_ms": ?)[\d.]+/g, '$1<time>'],
  [/\b[\d.]+ ms\b/g, '<time>'],
  [/\((\d+) bytes\)/g, '(<size>)'],
];

/** The difference as two texts that are not equal, or undefined. */
export function compareOutput(
  printed: string,
  shown: string,
): { readonly printed: string; readonly shown: string } | undefined {
  const [actual, expected] = [mask(printed), mask(shown)];
  const pattern = expected.split('\n').map(linePattern).join('');
  return new RegExp(`^${pattern}$`).test(`${actual}\n`) ? undefined : { printed: actual, shown: expected };
}

function mask(text: string): string {
  return MASKS.reduce((masked, [pattern, mark]) => masked.replace(pattern, mark), text.trimEnd());
}

/** A line of nothing but `…` stands for any number of lines. */
function linePattern(line: string): string {
  if (line.trim() === '…') return '(?:.*\\n)*?';
  const parts = line.split('…').map((part) => part.replace(/[$()*+.?[\\\]^{|}]/g, '\\$&'));
  return `${parts.join('.*')}\\n`;
}
