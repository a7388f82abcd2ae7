/**
 * Changes of a call as diffs an editor can show.
 *
 * A unified diff becomes one fragment per hunk, context included. Text that replaces a file is shown only when it is
 * known what was there: without that, an overwritten file would look like a new one.
 */
import type { AcpDiff } from './acp-types.ts';

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

interface Hunk {
  readonly oldPath: string | undefined;
  readonly newPath: string | undefined;
  readonly isCreation: boolean;
  /** First line in the old file, from 1. */
  readonly line: number;
  readonly before: string;
  readonly after: string;
}

const HEADER = /^@@ -(\d+)(?:,(\d+))? \+(\d+)(?:,(\d+))? @@/;

/**
 * The hunks of a unified diff as texts before and after. For display only: nothing is applied by it.
 *
 * A hunk ends when its header's counts are used up, so a removed line `-- x` is never taken for a file header.
 */
export function readHunks(diff: string): Hunk[] {
  const lines = diff.split('\n');
  const hunks: Hunk[] = [];
  let oldName: string | undefined;
  let newName: string | undefined;
  for (let at = 0; at < lines.length; at++) {
    const line = lines[at] ?? '';
    if (line.startsWith('--- ')) oldName = fileName(line);
    else if (line.startsWith('+++ ')) newName = fileName(line);
    const header = HEADER.exec(line);
    if (header === null) continue;
    const body = readBody(lines, at + 1, { old: Number(header[2] ?? 1), new: Number(header[4] ?? 1) });
    at = body.end - 1;
    hunks.push({
      oldPath: pathIn(oldName, 'a/'),
      newPath: pathIn(newName, 'b/'),
      isCreation: oldName === '/dev/null' || (oldName === undefined && header[1] === '0'),
      line: Math.max(1, Number(header[1])),
      before: body.before,
      after: body.after,
    });
  }
  return hunks;
}

interface Counts {
  old: number;
  new: number;
}

function readBody(lines: readonly string[], start: number, left: Counts) {
  const before: string[] = [];
  const after: string[] = [];
  let at = start;
  for (; at < lines.length && (left.old > 0 || left.new > 0); at++) {
    const line = lines[at] ?? '';
    const sign = line.charAt(0);
    if (sign === '\\') continue;
    if (sign !== '+') left.old -= before.push(line.slice(1)) > 0 ? 1 : 0;
    if (sign !== '-') left.new -= after.push(line.slice(1)) > 0 ? 1 : 0;
  }
  return { before: before.join('\n'), after: after.join('\n'), end: at };
}

function fileName(header: string): string {
  return header.slice(4).split('\t', 1)[0]?.replace(/\r$/, '') ?? '';
}

function pathIn(name: string | undefined, prefix: string): string | undefined {
  if (name === undefined || name === '/dev/null') return undefined;
  return name.startsWith(prefix) ? name.slice(prefix.length) : name;
}
