/**
 * Changes of a call as diffs an editor can show.
 *
 * A unified diff becomes one fragment per hunk, context included. Text that replaces a file is shown only when it is
 * known what was there: without that, an overwritten file would look like a new one.
 */
import type { AcpDiff } from './acp-types.ts';
import { readHunks } from './read-hunks.ts';

export interface TextChange {
  /** Relative to the workspace root, or absolute. */
  readonly path: string;
  /** Null when there was no such file. */
  readonly before: string | null;
  readonly after: string;
}

export interface DiffSource {
  readonly args: unknown;
  readonly data?: unknown;
  /** Changes whose texts are known; they win over what is found in the arguments. */
  readonly changes?: readonly TextChange[];
  /** Texts of files as they were before the call, by the path the call names. */
  readonly before?: ReadonlyMap<string, string | null>;
}

export function acpDiffs(source: DiffSource, absolute: (path: string) => string): AcpDiff[] {
  const { changes = changesOf(source) } = source;
  return changes.map(({ path, before, after }) => ({
    type: 'diff',
    path: absolute(path),
    oldText: before,
    newText: after,
  }));
}

function changesOf({ args, data, before }: DiffSource): readonly TextChange[] {
  const { path, content, unified_diff: patch, append, encoding } = fields(args);
  const { diff } = fields(data);
  if (typeof path === 'string' && typeof patch === 'string') return hunksOf(patch, path);
  if (typeof diff === 'string') return hunksOf(diff, undefined);
  if (typeof path !== 'string' || typeof content !== 'string' || encoding === 'base64') return [];
  const old = before?.get(path);
  if (old === undefined) return [];
  return [{ path, before: old, after: append === true ? `${old ?? ''}${content}` : content }];
}

/** The name in the arguments counts; the names in a diff only where it is about several files. */
function hunksOf(diff: string, path: string | undefined): TextChange[] {
  return readHunks(diff).flatMap((hunk) => {
    const name = path ?? hunk.newPath ?? hunk.oldPath;
    if (name === undefined) return [];
    return [{ path: name, before: hunk.isCreation ? null : hunk.before, after: hunk.after }];
  });
}

function fields(value: unknown): Readonly<Record<string, unknown>> {
  return typeof value === 'object' && value !== null ? (value as Record<string, unknown>) : {};
}
