/** Colours of terminals in captured output, as spans. Everything else that a terminal would obey is left out or made visible. */
export interface Span {
  readonly text: string;
  readonly style: string;
}

const SEQUENCE = /\u001b(?:\[([0-9;]*)([A-Za-z])|\][^\u0007\u001b]*(?:\u0007|\u001b\\)?|[@-Z\\-_])/g;
const COLORS = ['black', 'red', 'green', 'yellow', 'blue', 'magenta', 'cyan', 'white'] as const;

export function readAnsi(text: string): readonly Span[] {
  const spans: Span[] = [];
  let [style, from] = ['', 0];
  const push = (part: string): void => {
    if (part !== '') spans.push({ text: part, style });
  };
  for (const match of text.matchAll(SEQUENCE)) {
    push(text.slice(from, match.index));
    from = match.index + match[0].length;
    if (match[2] === 'm') style = nextStyle(style, match[1] ?? '');
  }
  push(text.slice(from));
  return spans;
}

function nextStyle(style: string, codes: string): string {
  const words = new Set(style.split(' ').filter((word) => word !== ''));
  for (const code of (codes === '' ? '0' : codes).split(';').map(Number)) {
    if (code === 0) words.clear();
    else if (code === 1) words.add('ansi-bold');
    else if (code === 22) words.delete('ansi-bold');
    else if (code === 39 || isColor(code)) {
      for (const name of COLORS) words.delete(`ansi-${name}`);
      const name = COLORS[code % 10];
      if (isColor(code) && name !== undefined) words.add(`ansi-${name}`);
    }
  }
  return [...words].join(' ');
}

function isColor(code: number): boolean {
  return (code >= 30 && code <= 37) || (code >= 90 && code <= 97);
}
