/** Which pipeline of a list runs next, by the rules of the shell: `&&` and `||` bind equally, from the left. */
import type { CommandList, ListOperator } from '../contracts/command-list.ts';

function runs(operator: ListOperator | null, lastCode: number): boolean {
  if (operator === '&&') return lastCode === 0;
  if (operator === '||') return lastCode !== 0;
  return true;
}

/**
 * `exitCodes` are those of the pipelines that ran, in the order they ran; a pipeline's code is its last command's.
 * Answers the index of the next one, or undefined when the list is done. A pipeline that is passed over leaves the code
 * as it was: in `a && b || c`, a failing `a` runs `c`.
 */
export function nextPipeline(list: CommandList, exitCodes: readonly number[]): number | undefined {
  let lastCode = 0;
  let ran = 0;
  for (const [index, { operator }] of list.pipelines.entries()) {
    if (!runs(operator, lastCode)) continue;
    const code = exitCodes[ran];
    if (code === undefined) return index;
    lastCode = code;
    ran++;
  }
  return undefined;
}
