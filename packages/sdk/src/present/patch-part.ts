/** A patch as text. What a cut leaves out is asked for by the files it belongs to. */
import type { TextPart } from '../contracts/tool-text.ts';
import { shownName } from './rows.ts';

interface PatchedFile {
  readonly path: string;
  readonly status: string;
  readonly additions: number;
  readonly deletions: number;
  readonly binary: boolean;
  readonly from?: string | undefined;
}

/** `rest` gets the files that are not shown whole. */
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
