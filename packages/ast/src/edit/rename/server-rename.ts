/**
 * Plan B: what the language server would rename.
 *
 * A server sees files as they are on disk; its answer is carried over to the drafts and holds only where nothing was
 * changed before. Silence, death and nonsense make the plan unavailable; a reasoned no is a no.
 */
import { isToolError, type ToolError } from '@tool-runtime/protocol';
import type { LanguageServer } from '../../lsp/language-server.ts';
import type { PlannedEdit } from '../../lsp/workspace-edit.ts';
import type { Draft } from '../draft.ts';
import type { Target } from '../edit-desk.ts';
import { refuseEdit, throwIfAborted } from '../edit-failures.ts';
import type { Residual } from '../edit-plan.ts';
import { fromServerPlace, toServerPlace } from '../server-places.ts';
import type { Work } from '../work.ts';
import type { NameEdit } from './find-occurrences.ts';

export type ServerPlan =
  | {
      readonly server: LanguageServer;
      readonly edits: readonly NameEdit[];
      /** Places in files that are ignored: build output, vendored code. */
      readonly ignored: readonly Residual[];
    }
  | { readonly unavailable: ToolError };

/** The server said no, for a reason of its own. */
const REFUSALS = ['server_refused', 'edit_outside_workspace', 'file_operations'];

/** Undefined when no server takes such files. Throws E_AST_EDIT when the server refuses. */
export async function serverRename(target: Target, newName: string, work: Work): Promise<ServerPlan | undefined> {
  const { servers, desk, serverTimeoutMs: timeoutMs } = work;
  const { draft, node } = target;
  if (servers === undefined || !servers.covers(draft.path)) return undefined;
  const { signal } = desk.parts;
  const limits = { timeoutMs, ...(signal === undefined ? {} : { signal }) };
  const origin = draft.origin(node.nameSpan.start, node.nameSpan.end);
  if (origin === undefined) return { unavailable: changedBefore(draft.path) };
  try {
    const server = await servers.serverFor(draft.path, limits);
    const at = { path: draft.path, ...toServerPlace(draft.onDisk, origin.start) };
    const planned = await server.rename(at, newName, limits);
    return { server, edits: await nameEdits(planned, node.name, work), ignored: ignoredPlaces(planned, work) };
  } catch (thrown) {
    throwIfAborted(signal);
    if (!isToolError(thrown)) throw thrown;
    if (REFUSALS.includes(String(thrown.details['reason']))) throw thrown;
    return { unavailable: thrown };
  }
}

async function nameEdits({ files }: PlannedEdit, name: string, { desk }: Work): Promise<readonly NameEdit[]> {
  const found: NameEdit[] = [];
  for (const [path, edits] of Object.entries(files)) {
    if (!desk.files.exists(path)) continue;
    const draft = await desk.draft(path);
    for (const { startLine, startCharacter, endLine, endCharacter, newText } of edits) {
      const start = fromServerPlace(draft.onDisk, startLine, startCharacter);
      const end = fromServerPlace(draft.onDisk, endLine, endCharacter);
      const place = draft.place(start, end);
      if (place === undefined) throw changedBefore(path);
      found.push(onName(draft, { path, ...place, newText }, name));
    }
  }
  return found;
}

function ignoredPlaces({ files }: PlannedEdit, { desk }: Work): readonly Residual[] {
  return Object.entries(files).flatMap(([file, edits]) =>
    desk.files.exists(file)
      ? []
      : edits.map((edit) => ({
          file,
          line: edit.startLine + 1,
          col: edit.startCharacter + 1,
          kind: 'generated' as const,
        })),
  );
}

/** The same edit on the occurrence of the name alone: servers may replace more, or insert beside it. */
function onName({ source }: Draft, edit: NameEdit, name: string): NameEdit {
  const [start, end] = [source.toOffset(edit.start), source.toOffset(edit.end)];
  const { text } = source;
  const old = text.slice(start, end);
  if (old === name) return edit;
  if (start === end && text.startsWith(name, start))
    return widen(source, start, start + name.length, edit, edit.newText + name);
  if (start === end && text.endsWith(name, start))
    return widen(source, start - name.length, start, edit, name + edit.newText);
  const at = old.indexOf(name);
  if (at === -1 || old.indexOf(name, at + 1) !== -1) return edit;
  const [lead, tail] = [old.slice(0, at), old.slice(at + name.length)];
  if (!edit.newText.startsWith(lead) || !edit.newText.endsWith(tail)) return edit;
  const inner = edit.newText.slice(lead.length, edit.newText.length - tail.length);
  return widen(source, start + at, start + at + name.length, edit, inner);
}

function widen(source: Draft['source'], start: number, end: number, edit: NameEdit, newText: string): NameEdit {
  return { path: edit.path, start: source.toByte(start), end: source.toByte(end), newText };
}

function changedBefore(path: string): ToolError {
  return refuseEdit('changed_before', `An earlier operation of the batch changed what the server sees: ${path}`, {
    path,
    next: 'do this operation in a call of its own',
  });
}
