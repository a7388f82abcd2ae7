/**
 * Two plans for one rename, made without knowledge of each other, into one, or a refusal that shows where they differ.
 *
 * Neither is the truth: a server leaves out what lies outside of its project, scopes know no members. Each may add only
 * what the other cannot know.
 */
import type { ToolError } from '@tool-runtime/protocol';
import type { RenameEdit, RenamePlan } from '../../scope/rename/rename-plan.ts';
import { resolveScopes } from '../../scope/resolve-scopes.ts';
import type { Draft } from '../draft.ts';
import type { Target } from '../edit-desk.ts';
import { refuseEdit } from '../edit-failures.ts';
import type { Confidence } from '../edit-plan.ts';
import type { Work } from '../work.ts';
import { type NameEdit, placeKey } from './find-occurrences.ts';

export interface Reconciled {
  readonly edits: readonly NameEdit[];
  readonly confidence: Confidence;
}

const MAX_SHOWN = 10;

/** Throws E_AST_EDIT with `plans_differ`. */
export async function reconcile(
  target: Target,
  { edits: byScope, kept }: RenamePlan,
  answered: readonly NameEdit[],
  work: Work,
): Promise<Reconciled> {
  const byServer = withoutKept(answered, kept, work);
  const scopeKeys = new Map(byScope.map((edit) => [placeKey(edit), edit]));
  const serverKeys = new Map(byServer.map((edit) => [placeKey(edit), edit]));
  const onlyScope = byScope.filter((edit) => !serverKeys.has(placeKey(edit)));
  const onlyServer = byServer.filter((edit) => !scopeKeys.has(placeKey(edit)));
  const unlike = byServer.filter((edit) => {
    const other = scopeKeys.get(placeKey(edit));
    return other !== undefined && other.newText !== edit.newText;
  });
  if (unlike.length > 0) throw await differ(target, work, { onlyScope: unlike, onlyServer: unlike, what: 'how' });
  if (onlyScope.length > 0 && onlyServer.length > 0)
    throw await differ(target, work, { onlyScope, onlyServer, what: 'where' });
  if (onlyScope.length > 0) {
    if (!onlyScope.every((edit) => isBeyondServer(edit, target)))
      throw await differ(target, work, { onlyScope, onlyServer, what: 'where' });
    const files = [...new Set(onlyScope.map(({ path }) => path))];
    work.warn(`the language server left out ${onlyScope.length} places that imports lead to: ${shown(files)}`);
    return { edits: byScope, confidence: 'resolver' };
  }
  if (onlyServer.length > 0) {
    for (const edit of onlyServer) {
      if (!isBeyondScopes(await work.desk.draft(edit.path), edit, byScope))
        throw await differ(target, work, { onlyScope, onlyServer, what: 'where' });
    }
    return { edits: byServer, confidence: 'server' };
  }
  return { edits: byScope, confidence: byServer.length === answered.length ? 'proven' : 'resolver' };
}

/** TypeScript 7.0 at times renames `ns.x` although `export { renamed as x }` keeps that name. */
function withoutKept(byServer: readonly NameEdit[], kept: RenamePlan['kept'], { warn }: Work): readonly NameEdit[] {
  const places = new Set(kept.map(placeKey));
  const past = byServer.filter((edit) => places.has(placeKey(edit)));
  if (past.length === 0) return byServer;
  const files = [...new Set(past.map(({ path }) => path))];
  warn(`the language server would also rename ${past.length} places that an export keeps as they are: ${shown(files)}`);
  return byServer.filter((edit) => !past.includes(edit));
}

/** Another file that imports the target, or text that servers do not look into. */
function isBeyondServer({ path, role }: RenameEdit, { draft }: Target): boolean {
  return path !== draft.path || role === 'opaque' || role === 'string';
}

/**
 * Members, shorthand, macro arguments and links in docs need types. Where an export keeps the old name, a member may be
 * reached through it, which servers overlook.
 */
function isBeyondScopes(draft: Draft, { start }: NameEdit, byScope: readonly RenameEdit[]): boolean {
  const scopes = resolveScopes(draft.parsed);
  const at = draft.source.toOffset(start);
  if (scopes.texts.some((part) => part.kind === 'comment' && part.start <= at && at < part.end)) return true;
  const token = scopes.tokenAt(at);
  const isKept = byScope.some(({ role, newText }) => role === 'export' && newText.includes(' as '));
  if (token?.role === 'member' && isKept) return false;
  return token !== undefined && (token.role === 'member' || token.role === 'opaque' || token.shorthand !== undefined);
}

interface Difference {
  readonly onlyScope: readonly NameEdit[];
  readonly onlyServer: readonly NameEdit[];
  readonly what: 'where' | 'how';
}

async function differ(target: Target, { desk }: Work, { onlyScope, onlyServer, what }: Difference): Promise<ToolError> {
  const places = async (edits: readonly NameEdit[]) => {
    const found: string[] = [];
    for (const { path, start } of edits.slice(0, MAX_SHOWN)) {
      const { source } = await desk.draft(path);
      found.push(`${path}:${source.rowOf(source.toOffset(start)) + 1}`);
    }
    return found;
  };
  return refuseEdit('plans_differ', `Scopes and language server disagree ${what} to rename: ${target.node.name}`, {
    path: target.draft.path,
    next: 'look at the places, and edit by hand or rename what hides them first',
    details: { only_scopes: await places(onlyScope), only_server: await places(onlyServer) },
  });
}

function shown(files: readonly string[]): string {
  const rest = files.length - MAX_SHOWN;
  return files.slice(0, MAX_SHOWN).join(', ') + (rest > 0 ? ` and ${rest} more` : '');
}
