/** Names with `*` and `?`. Everything else stands for itself, and time stays linear in pattern × name. */

export interface WildPattern {
  /** The pattern itself when it has no wildcard. */
  readonly literal: string | undefined;
  test(text: string): boolean;
}

export function wildPattern(pattern: string): WildPattern {
  if (!/[*?]/.test(pattern)) return { literal: pattern, test: (text) => text === pattern };
  return { literal: undefined, test: simpleTest(pattern) ?? ((text) => matches([...pattern], [...text])) };
}

/** The usual forms, `a*`, `*a`, `*a*` and `*`, as one string operation. */
function simpleTest(pattern: string): ((text: string) => boolean) | undefined {
  const [, head = '', core = '', tail = ''] = /^(\*?)([^*?]*)(\*?)$/.exec(pattern) ?? [];
  if (head === '' && tail === '') return undefined;
  if (head === '') return (text) => text.startsWith(core);
  if (tail === '' && core !== '') return (text) => text.endsWith(core);
  return (text) => text.includes(core);
}

/** Goes back to the last star only: an earlier one can never do better. */
function matches(pattern: readonly string[], text: readonly string[]): boolean {
  let at = 0;
  let star = -1;
  let resume = 0;
  for (let index = 0; index < text.length; ) {
    if (pattern[at] === '*') {
      star = at++;
      resume = index;
    } else if (at < pattern.length && (pattern[at] === '?' || pattern[at] === text[index])) {
      at++;
      index++;
    } else if (star === -1) return false;
    else {
      at = star + 1;
      index = ++resume;
    }
  }
  while (pattern[at] === '*') at++;
  return at === pattern.length;
}
