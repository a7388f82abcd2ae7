/** Small words that the texts of many tools are made of. */
import { safeText } from '@tool-runtime/protocol/internal';
import { callText } from '../contracts/tool-text.ts';

/** A name of the workspace on one line: escaped where it holds control characters, and never cut. */
export function shownName(name: string): string {
  return safeText(name, Number.MAX_SAFE_INTEGER);
}

/** `1 file`, `2 files`. */
export function counted(count: number, noun: string, plural = `${noun}s`): string {
  return `${count} ${count === 1 ? noun : plural}`;
}

/** Enough of a commit's hash to name it. */
export function shortHash(hash: string | null | undefined): string {
  return hash === null || hash === undefined ? 'none' : hash.slice(0, 12);
}

/** A title and names below it; nothing where there are none. */
export function nameRows(title: string, names: readonly string[]): readonly string[] {
  return names.length === 0 ? [] : [title, ...names.map((name) => `  ${shownName(name)}`)];
}

/** How to undo a git call that left a recovery point. */
export function goBack(recovery: string): string {
  return `to go back: ${callText('git_recover', { recovery })}`;
}
