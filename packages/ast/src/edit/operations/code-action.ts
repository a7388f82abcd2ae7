/** Lists the actions a language server offers for a place, and applies one through the same checks as every edit. */
import { ToolError } from '@tool-runtime/protocol';
import type { LanguageServer } from '../../lsp/language-server.ts';
import type { CodeAction } from '../../lsp/query-results.ts';
import type { ServerQueries } from '../../lsp/server-queries.ts';
import type { FileEdit, PlannedEdit } from '../../lsp/workspace-edit.ts';
import { commitEdits } from '../commit-edits.ts';
import type { Draft } from '../draft.ts';
import { refuseEdit } from '../edit-failures.ts';
import type { OperationOf } from '../edit-operations.ts';
import { fromServerPlace, toServerPlace } from '../server-places.ts';
import type { TextEdit } from '../text-edit.ts';
import { type Planner, requireEditable, type Work } from '../work.ts';

export type ActionPlace = Pick<
  OperationOf<'code_action'>,
  'target_node_id' | 'expected_rev' | 'file' | 'line' | 'end_line' | 'kind'
>;

/** As people see it. */
export interface ListedAction {
  readonly title: string;
  readonly kind?: string;
  readonly preferred: boolean;
  /** Why it cannot be applied now. */
  readonly disabled?: string;
}

const MAX_SHOWN = 30;

export async function listCodeActions(place: ActionPlace, work: Work): Promise<readonly ListedAction[]> {
  return ask(place, work, async (_queries, actions) =>
    actions.map(({ title, kind, isPreferred, disabled }) => ({
      title,
      ...(kind === undefined ? {} : { kind }),
      preferred: isPreferred,
      ...(disabled === undefined ? {} : { disabled }),
    })),
  );
}

export const codeAction: Planner<'code_action'> = async (operation, work) => {
  const planned = await ask(operation, work, (queries, actions) =>
    queries.resolveCodeAction(choose(actions, operation).handle, { allowFileOperations: true }),
  );
  await applyServerEdits(planned, operation, work);
  return { confidence: 'server' };
};

async function ask<T>(
  place: ActionPlace,
  work: Work,
  use: (queries: ServerQueries, actions: readonly CodeAction[]) => Promise<T>,
): Promise<T> {
  const { desk, serverTimeoutMs: timeoutMs } = work;
  const { signal } = desk.parts;
  const limits = { timeoutMs, ...(signal === undefined ? {} : { signal }) };
  const { draft, start, end } = await rangeOf(place, work);
  const server = await serverFor(draft.path, work, limits);
  const [first, last] = [toServerPlace(draft.onDisk, start), toServerPlace(draft.onDisk, end)];
  const range = {
    startLine: first.line,
    startCharacter: first.character,
    endLine: last.line,
    endCharacter: last.character,
  };
  const filter = place.kind === undefined ? {} : { only: [place.kind] };
  return server.ask(draft.path, limits, async (queries) =>
    use(queries, await queries.codeActions(draft.path, range, filter)),
  );
}

function serverFor(path: string, { servers }: Work, limits: { readonly timeoutMs: number }): Promise<LanguageServer> {
  if (servers?.covers(path) === true) return servers.serverFor(path, limits);
  throw new ToolError('E_POLICY', `No language server is configured for this file: ${path}`, {
    path,
    details: { reason: 'not_configured', next: 'configure a provider for the language' },
  });
}

/** Bytes of the file on disk. */
async function rangeOf(place: ActionPlace, { desk }: Work): Promise<{ draft: Draft; start: number; end: number }> {
  if (place.target_node_id !== undefined) {
    const { draft, node } = await desk.target({ ...place, target_node_id: place.target_node_id });
    const span = draft.origin(node.span.start, node.span.end);
    if (span !== undefined) return { draft, ...span };
    throw refuseEdit('changed_before', `An earlier operation of the batch changed this: ${node.name}`, {
      path: draft.path,
      next: 'do this operation in a call of its own',
    });
  }
  const draft = await desk.draft(place.file ?? '');
  const { onDisk } = draft;
  const line = place.line ?? 1;
  const isWhole = place.line === undefined;
  const endLine = place.end_line ?? (isWhole ? onDisk.lineCount : line);
  const start = onDisk.toByte(onDisk.lineStart(line - 1));
  return { draft, start, end: onDisk.toByte(onDisk.lineStart(endLine)) };
}

function choose(actions: readonly CodeAction[], { title, kind }: OperationOf<'code_action'>): CodeAction {
  const fitting = actions.filter(
    (one) => (title === undefined || one.title === title) && (kind === undefined || isOfKind(one.kind, kind)),
  );
  const usable = fitting.filter(({ disabled }) => disabled === undefined);
  const preferred = usable.filter(({ isPreferred }) => isPreferred);
  const [only] = preferred.length === 1 ? preferred : usable;
  if (only !== undefined && (usable.length === 1 || preferred.length === 1)) return only;
  const reason = usable.length > 1 ? 'ambiguous_action' : fitting.length > 0 ? 'action_disabled' : 'no_such_action';
  throw refuseEdit(reason, `Language server offers ${usable.length} such actions: ${title ?? kind ?? ''}`, {
    path: 'title',
    next: 'give the title of one that is offered',
    details: { offered: actions.slice(0, MAX_SHOWN).map((one) => one.title) },
  });
}

/** `refactor` includes `refactor.extract`. */
function isOfKind(own: string | undefined, wanted: string): boolean {
  return own !== undefined && (own === wanted || own.startsWith(`${wanted}.`));
}

/** A server's edit carried over into the drafts: text edits and new files; nothing is renamed or deleted. */
async function applyServerEdits(
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
