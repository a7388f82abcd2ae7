/**
 * What bears the old name after a rename that only a server planned: a server does not say what it left out.
 *
 * Every occurrence it did not touch is classified: bound by scope to something else, a comment, a string; for the rest the
 * server itself is asked what it means. An answer that leads to the target proves that its plan was not whole.
 */
import { isToolError, type ToolError } from '@tool-runtime/protocol';
import type { LanguageServer } from '../../lsp/language-server.ts';
import { languageId } from '../../lsp/server-session.ts';
import type { Target } from '../edit-desk.ts';
import { refuseEdit, throwIfAborted } from '../edit-failures.ts';
import type { Residual } from '../edit-plan.ts';
import { toServerPlace } from '../server-places.ts';
import type { Work } from '../work.ts';
import { findOccurrences, type Occurrence } from './find-occurrences.ts';
import { type NameEdit, placeKey } from './name-edit.ts';

/** Occurrences the server is asked about; the others count as not known. */
const MAX_QUESTIONS = 200;

/** Throws E_AST_EDIT with `server_partial`. */
export async function auditServer(
  target: Target,
  edits: readonly NameEdit[],
  server: LanguageServer,
  work: Work,
): Promise<readonly Residual[]> {
  const edited = new Set(edits.map(placeKey));
  const residual: Residual[] = [];
  let questions = 0;
  const provider = work.servers?.providers.find(({ name }) => name === server.provider);
  const isSeen = (path: string) => provider !== undefined && languageId(provider, path) !== undefined;
  for (const { start, ...one } of await findOccurrences(target, work, isSeen)) {
    if (edited.has(placeKey({ path: one.file, start }))) continue;
    const isCode = one.kind === 'member' || one.kind === 'code';
    if (isCode && questions++ < MAX_QUESTIONS && (await meansOther(target, { ...one, start }, server, work))) continue;
    residual.push(one);
  }
  return residual;
}

/** True when the server knows another meaning. */
async function meansOther(target: Target, one: Occurrence, server: LanguageServer, work: Work): Promise<boolean> {
  const { desk, serverTimeoutMs: timeoutMs } = work;
  const { signal } = desk.parts;
  const draft = await desk.draft(one.file);
  const origin = draft.origin(one.start, one.start + Buffer.byteLength(target.node.name));
  const own = target.draft.origin(target.node.nameSpan.start, target.node.nameSpan.end);
  if (origin === undefined || own === undefined) return false;
  const place = { path: one.file, ...toServerPlace(draft.onDisk, origin.start) };
  try {
    const meant = await server.definition(place, { timeoutMs, ...(signal === undefined ? {} : { signal }) });
    const home = toServerPlace(target.draft.onDisk, own.start);
    const isTarget = meant.some(
      ({ path, startLine, startCharacter }) =>
        path === target.draft.path && startLine === home.line && startCharacter === home.character,
    );
    if (isTarget) throw partial(one);
    return meant.length > 0;
  } catch (thrown) {
    throwIfAborted(signal);
    if (!isToolError(thrown) || thrown.code === 'E_AST_EDIT') throw thrown;
    return false;
  }
}

function partial({ file, line, col }: Occurrence): ToolError {
  return refuseEdit('server_partial', `Language server left out a use it knows: ${file}:${line}`, {
    path: file,
    next: 'try again when the server has read the whole project',
    details: { line, col },
  });
}
