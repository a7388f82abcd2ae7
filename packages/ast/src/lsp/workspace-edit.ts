/**
 * A server's workspace edit in one form, whole or not at all.
 *
 * Refused: edits outside the workspace, for a version of a document that is no longer ours, overlapping ones, and files
 * to be created, renamed or deleted unless asked for. With files asked for the order is fixed: creations apply before the
 * text edits, renames and deletions after them; an answer that needs another order is refused too.
 */
import type { ToolError } from '@tool-runtime/protocol';
import { z } from 'zod';
import { flatRange, readAnswer, type TextRange, textEditShape } from './answer-shapes.ts';
import { badAnswer, refusedEdit } from './server-errors.ts';
import type { WorkspaceUris } from './workspace-uris.ts';

export interface FileEdit extends TextRange {
  readonly newText: string;
}

export interface FileOperation {
  readonly kind: 'create' | 'rename' | 'delete';
  readonly path: string;
  /** Of a rename. */
  readonly newPath?: string;
}

export interface PlannedEdit {
  /** Workspace-relative path → edits in file order, none overlapping, relative to the text as it is now. */
  readonly files: Readonly<Record<string, readonly FileEdit[]>>;
  readonly operations: readonly FileOperation[];
}

export interface EditReading {
  readonly uris: WorkspaceUris;
  readonly method: string;
  readonly allowFileOperations: boolean;
  /** Of an open document as we last sent it. */
  versionOf(path: string): number | undefined;
}

const textDocumentEdit = z.object({
  textDocument: z.object({ uri: z.string(), version: z.int().nullish() }),
  edits: z.array(textEditShape),
});
const fileOperation = z.discriminatedUnion('kind', [
  z.object({ kind: z.literal('create'), uri: z.string() }),
  z.object({ kind: z.literal('rename'), oldUri: z.string(), newUri: z.string() }),
  z.object({ kind: z.literal('delete'), uri: z.string() }),
]);
const workspaceEditShape = z.object({
  changes: z.record(z.string(), z.array(textEditShape)).nullish(),
  documentChanges: z.array(z.union([fileOperation, textDocumentEdit])).nullish(),
});

type Step = z.output<typeof fileOperation> | z.output<typeof textDocumentEdit>;

/** Throws E_AST_EDIT when the edit is refused, E_INTERNAL when it is no edit. */
export function readWorkspaceEdit(value: unknown, reading: EditReading): PlannedEdit {
  const { changes, documentChanges } = readAnswer(workspaceEditShape, value, reading.method);
  const steps: readonly Step[] =
    documentChanges ?? Object.entries(changes ?? {}).map(([uri, edits]) => ({ textDocument: { uri }, edits }));
  const files = new Map<string, FileEdit[]>();
  const operations: FileOperation[] = [];
  const settled = new Set<string>();
  for (const step of steps) {
    if ('kind' in step) operations.push(readOperation(step, { reading, edited: files, settled }));
    else readTextEdits(step, { reading, edited: files, settled });
  }
  const sorted = [...files].map(([path, edits]) => [path, inOrder(path, edits)] as const);
  return { files: Object.fromEntries(sorted.filter(([, edits]) => edits.length > 0)), operations };
}

interface Plan {
  readonly reading: EditReading;
  readonly edited: Map<string, FileEdit[]>;
  /** Names whose file is renamed or gone by now. */
  readonly settled: Set<string>;
}

function readOperation(step: z.output<typeof fileOperation>, { reading, edited, settled }: Plan): FileOperation {
  if (!reading.allowFileOperations) {
    throw refusedEdit('file_operations', `Edit would also ${step.kind} files`, {
      next: 'allow file operations, or do it by hand',
    });
  }
  if (step.kind === 'rename') {
    const [path, newPath] = [inside(step.oldUri, reading), inside(step.newUri, reading)];
    settled.add(path).add(newPath);
    return { kind: 'rename', path, newPath };
  }
  const path = inside(step.uri, reading);
  if (step.kind === 'delete') settled.add(path);
  else if (edited.has(path) || settled.has(path)) throw otherOrder(path);
  return { kind: step.kind, path };
}

function readTextEdits({ textDocument, edits }: z.output<typeof textDocumentEdit>, plan: Plan): void {
  const path = inside(textDocument.uri, plan.reading);
  if (plan.settled.has(path)) throw otherOrder(path);
  const ours = plan.reading.versionOf(path);
  if (ours !== undefined && typeof textDocument.version === 'number' && textDocument.version !== ours) {
    throw refusedEdit('stale_edit', `Edit is for another version of the file: ${path}`, { path, next: 'ask again' });
  }
  const known = plan.edited.get(path) ?? [];
  known.push(...edits.map(({ range, newText }) => ({ ...flatRange(range), newText })));
  plan.edited.set(path, known);
}

function inside(uri: string, { uris }: EditReading): string {
  const path = uris.toPath(uri);
  if (path !== null && path !== '.') return path;
  const name = uris.nameOf(uri);
  throw refusedEdit('edit_outside_workspace', `Edit would change a file outside the workspace: ${name}`, {
    path: name,
    next: 'the symbol belongs to a library: change its use instead',
  });
}

function otherOrder(path: string): ToolError {
  return refusedEdit('file_operations', `Edit mixes file operations and text in an order we do not do: ${path}`, {
    path,
    next: 'do it by hand',
  });
}

/** Sorted; the same replacement twice counts once, insertions at one place keep their number and order. */
function inOrder(path: string, edits: readonly FileEdit[]): FileEdit[] {
  const seen = new Set<string>();
  const sorted = edits.filter((edit) => {
    const key = JSON.stringify(edit);
    if (isBackwards(edit)) throw badAnswer('workspace edit', 'a range ends before it starts');
    return isInsertion(edit) || (!seen.has(key) && seen.add(key));
  });
  sorted.sort((a, b) => a.startLine - b.startLine || a.startCharacter - b.startCharacter || endsBefore(a, b));
  for (const [index, edit] of sorted.entries()) {
    const next = sorted[index + 1];
    if (next === undefined || !overlap(edit, next)) continue;
    throw refusedEdit('overlapping_edits', `Edits of the server overlap: ${path}`, {
      path,
      details: { line: next.startLine + 1 },
      next: 'try again, or use another provider',
    });
  }
  return sorted;
}

function isBackwards(edit: FileEdit): boolean {
  return edit.endLine < edit.startLine || (edit.endLine === edit.startLine && edit.endCharacter < edit.startCharacter);
}

/** Insertions before what replaces text at the same place. */
function endsBefore(a: FileEdit, b: FileEdit): number {
  return Number(!isInsertion(a)) - Number(!isInsertion(b));
}

function isInsertion(edit: FileEdit): boolean {
  return edit.startLine === edit.endLine && edit.startCharacter === edit.endCharacter;
}

function overlap(edit: FileEdit, next: FileEdit): boolean {
  return edit.endLine > next.startLine || (edit.endLine === next.startLine && edit.endCharacter > next.startCharacter);
}
