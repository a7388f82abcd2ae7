/** Finds parameter lists in scanned code: of functions, methods and arrows, told apart from calls by what follows. */

export interface ParameterList {
  readonly offset: number;
  readonly count: number;
}

const CONTROL = /\b(?:if|for|while|switch|catch|with|return|await)\s*$/;
const FUNCTION = /\bfunction\b\s*\*?\s*[\w$]*\s*(?:<[^()]*>)?\s*$/;
const METHOD = /[\w$\]]\s*(?:<[^()]*>)?\s*$/;

export function countParameters(code: string): ParameterList[] {
  const lists: ParameterList[] = [];
  const open: number[] = [];
  for (const match of code.matchAll(/[()]/g)) {
    if (match[0] === '(') {
      open.push(match.index);
      continue;
    }
    const start = open.pop();
    if (start === undefined || !isParameterList(code, start, match.index)) continue;
    lists.push({ offset: start, count: countItems(code.slice(start + 1, match.index)) });
  }
  return lists;
}

function isParameterList(code: string, start: number, end: number): boolean {
  const before = code.slice(Math.max(0, start - 200), start);
  const after = code.slice(end + 1, end + 200);
  if (FUNCTION.test(before)) return true;
  if (/^\s*=>/.test(after) || /^\s*:[^;{}=?]*=>\s*/.test(after))
    return !METHOD.test(before) || /\basync\s*$/.test(before);
  return METHOD.test(before) && !CONTROL.test(before) && /^\s*(?::[^;=?]*?)?\{/.test(after);
}

function countItems(list: string): number {
  if (list.trim() === '') return 0;
  let depth = 0;
  let commas = 0;
  const text = list.trim().replace(/,$/, '').replaceAll('=>', '  ');
  for (const char of text) {
    if ('([{<'.includes(char)) depth += 1;
    else if (')]}>'.includes(char)) depth -= 1;
    else if (char === ',' && depth === 0) commas += 1;
  }
  return commas + 1;
}
