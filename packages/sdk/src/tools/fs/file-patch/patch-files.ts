/** A patch in the form `*** Begin Patch`: every file is read and its new content made before the first is written. */
import { ToolError } from '@tool-runtime/protocol';
import { safeText } from '@tool-runtime/protocol/internal';
import type { ToolContext } from '../../../contracts/tool.ts';
import type { FileContent } from '../../../contracts/workspace.ts';
import { sha256Hex } from '../../../platform/digest.ts';
import { type AppliedHunk, applyPatch } from '../../../text/apply-patch.ts';
import { type PatchSection, parseBeginPatch } from '../../../text/begin-patch.ts';
import { checkInexact } from '../inexact.ts';
import { type PlannedFile, writeAll } from '../write-all.ts';
import { isNameOf } from './choose-patch.ts';
import { patchContent } from './patch-content.ts';

export interface PatchedPath {
  readonly path: string;
  readonly operation: 'add' | 'update' | 'move' | 'delete';
  readonly moved_to?: string;
  readonly bytes: number;
  readonly sha256: string | null;
  readonly before_sha256: string | null;
  readonly hunks: readonly AppliedHunk[];
}

export interface PatchRequest {
  readonly diff: string;
  /** The only file the patch may change; undefined where the patch names the files. */
  readonly path: string | undefined;
  read(path: string): Promise<FileContent | undefined>;
  explaining<T>(context: ToolContext, path: string, action: () => T): T;
}

export async function patchFiles(request: PatchRequest, context: ToolContext): Promise<readonly PatchedPath[]> {
  const sections = parseBeginPatch(Buffer.from(request.diff, 'utf8'));
  if (request.path !== undefined) requireOnly(sections, request.path);
  const outcomes: PatchedPath[] = [];
  const plan: PlannedFile[] = [];
  for (const [at, section] of sections.entries()) {
    const named = request.path === undefined ? section : { ...section, path: request.path };
    const { outcome, files } = await planSection(named, { at, request, context });
    checkInexact(outcome.hunks, 'hunk', outcome.path, context);
    outcomes.push(outcome);
    plan.push(...files);
  }
  await writeAll(plan, context);
  return outcomes;
}

function requireOnly(sections: readonly PatchSection[], path: string): void {
  const [only, ...others] = sections;
  if (only === undefined || (others.length === 0 && only.moveTo === undefined && isNameOf(only.path, path))) return;
  const named = sections.flatMap(({ path: own, moveTo }) => (moveTo === undefined ? [own] : [own, moveTo]));
  throw new ToolError(
    'E_VALIDATION_FAIL',
    `Patch changes more than ${path}: ${named.map((one) => safeText(one)).join(', ')}`,
    {
      path: 'path',
      details: { reason: 'other_file', named, next: 'Leave path out: the patch names its files; nothing was changed' },
    },
  );
}

interface Asked {
  /** Which section of the patch, from 0. */
  readonly at: number;
  readonly request: PatchRequest;
  readonly context: ToolContext;
}

interface Planned {
  readonly outcome: PatchedPath;
  readonly files: readonly PlannedFile[];
}

async function planSection(section: PatchSection, { at, request, context }: Asked): Promise<Planned> {
  const { path, operation, moveTo, patch } = section;
  const current = await request.read(path);
  if (operation === 'add') {
    if (current !== undefined) throw exists(path);
    const { bytes, hunks } = applyPatch(Buffer.alloc(0), patch);
    return {
      outcome: outcomeOf({ path, operation }, { bytes, hunks, before: null }),
      files: [{ path, before: undefined, after: bytes }],
    };
  }
  if (current === undefined) throw missing(path);
  const before = current.sha256;
  if (operation === 'delete') {
    return {
      outcome: outcomeOf({ path, operation }, { bytes: undefined, hunks: [], before }),
      files: [{ path, before: current, after: undefined }],
    };
  }
  const reparse = (encoded: Buffer) => parseBeginPatch(encoded)[at]?.patch ?? patch;
  const { bytes, hunks } = request.explaining(context, path, () =>
    patchContent(current.bytes, { path, diff: request.diff, patch, reparse }),
  );
  if (moveTo === undefined) {
    const files = bytes.equals(current.bytes) ? [] : [{ path, before: current, after: bytes }];
    return { outcome: outcomeOf({ path, operation }, { bytes, hunks, before }), files };
  }
  if ((await request.read(moveTo)) !== undefined) throw exists(moveTo);
  return {
    outcome: outcomeOf({ path, operation: 'move', moved_to: moveTo }, { bytes, hunks, before }),
    files: [
      { path: moveTo, before: undefined, after: bytes, mode: current.mode },
      { path, before: current, after: undefined },
    ],
  };
}

interface Made {
  readonly bytes: Buffer | undefined;
  readonly hunks: readonly AppliedHunk[];
  readonly before: string | null;
}

function outcomeOf(
  what: Pick<PatchedPath, 'path' | 'operation' | 'moved_to'>,
  { bytes, hunks, before }: Made,
): PatchedPath {
  const sha256 = bytes === undefined ? null : sha256Hex(bytes);
  return { ...what, bytes: bytes?.length ?? 0, sha256, before_sha256: before, hunks };
}

function exists(path: string): ToolError {
  return new ToolError('E_FILE_IO', `File exists already: ${path}`, {
    path,
    details: { reason: 'EEXIST', next: 'Use *** Update File, or another name; nothing was changed' },
  });
}

function missing(path: string): ToolError {
  return new ToolError('E_FILE_IO', `File not found: ${path}`, {
    path,
    details: { reason: 'ENOENT', next: 'Check the spelling; to create it, use *** Add File; nothing was changed' },
  });
}
