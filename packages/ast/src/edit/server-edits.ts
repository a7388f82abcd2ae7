/** A server's edit carried over into the drafts: text edits and new files; nothing is renamed or deleted. */
import type { ToolError } from '@tool-runtime/protocol';
import type { FileEdit, PlannedEdit } from '../lsp/workspace-edit.ts';
import { commitEdits } from './commit-edits.ts';
import type { Draft } from './draft.ts';
import { refuseEdit } from './edit-failures.ts';
import { fromServerPlace } from './server-places.ts';
import type { TextEdit } from './text-edit.ts';
import { requireEditable, type Work } from './work.ts';

export async function applyServerEdits(
  { files, operations }: PlannedEdit,
  allowance: { readonly allow_generated: boolean },
  { desk, warn }: Work,
): Promise<void> {
  for (const { kind, path } of operations) {
    if (kind !== 'create') throw fileOperation(kind, path);
    await desk.create(path);
  }
  for (const [path, edits] of Object.entries(files)) {
    const draft = await desk.draft(path);
    requireEditable(draft, allowance);
    commitEdits(
      draft,
      edits.map((edit) => textEdit(draft, edit)),
      { warn, check: () => undefined },
    );
  }
}

function textEdit(draft: Draft, { startLine, startCharacter, endLine, endCharacter, newText }: FileEdit): TextEdit {
  const start = fromServerPlace(draft.onDisk, startLine, startCharacter);
  const end = fromServerPlace(draft.onDisk, endLine, endCharacter);
  const place =
    draft.place(start, end) ?? (draft.before === null || draft.before.length === 0 ? { start: 0, end: 0 } : undefined);
  if (place === undefined) {
    throw refuseEdit(
      'changed_before',
      `An earlier operation of the batch changed what the server sees: ${draft.path}`,
      {
        path: draft.path,
        next: 'do this operation in a call of its own',
      },
    );
  }
  return { ...draft.units(place), text: newText };
}

function fileOperation(kind: string, path: string): ToolError {
  return refuseEdit('file_operations', `Action would ${kind} a file: ${path}`, { path, next: 'do it by hand' });
}
