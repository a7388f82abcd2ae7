/** Small pieces of text that many tools share. */
import { safeText } from '@tool-runtime/protocol/internal';
import { callText, type TextPart } from '../contracts/tool-text.ts';

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

interface PatchedFile {
  readonly path: string;
  readonly status: string;
  readonly additions: number;
  readonly deletions: number;
  readonly binary: boolean;
  readonly from?: string | undefined;
}

/**
 * A patch as text. What a cut leaves out is asked for by the files it belongs to.
 *
 * `rest` gets the files that are not shown whole.
 */
export function patchPart(
  patch: string,
  files: readonly PatchedFile[],
  rest: (paths: readonly string[]) => string,
): TextPart {
  return {
    type: 'text',
    text: patch,
    rest({ bytes }) {
      const shown = Buffer.from(patch).subarray(0, bytes).toString('utf8');
      const whole = Math.max(0, (shown.match(/^diff --git /gm)?.length ?? 0) - 1);
      return rest(files.slice(whole, whole + MAX_NAMED).map(({ path }) => path));
    },
  };
}

const MAX_NAMED = 5;

export function fileRows(files: readonly PatchedFile[]): readonly string[] {
  return files.map(({ path, from, status, additions, deletions, binary }) => {
    const name = from === undefined ? shownName(path) : `${shownName(from)} → ${shownName(path)}`;
    return `${name}: ${status}${binary ? ', binary' : `, +${additions} -${deletions}`}`;
  });
}
