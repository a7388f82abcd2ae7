/**
 * Renames a symbol everywhere: planned by scope and by language server, reconciled, audited for what is left over.
 *
 * Members are the server's alone. A plan that cannot be shown to be whole is refused, not applied in part.
 */
import type { JsonObject, ToolError } from '@tool-runtime/protocol';
import { lookUp } from '../../scope/look-up.ts';
import { planRename } from '../../scope/rename/plan-rename.ts';
import type { Refusal, RenameConflict, RenamePlan } from '../../scope/rename/rename-plan.ts';
import { checkName } from '../../scope/rename/rename-subject.ts';
import { resolveScopes } from '../../scope/resolve-scopes.ts';
import type { Target } from '../edit-desk.ts';
import { refuseEdit } from '../edit-failures.ts';
import type { OperationOf } from '../edit-operations.ts';
import type { Confidence, Residual, ResidualKind } from '../edit-plan.ts';
import { applyNames } from '../rename/apply-names.ts';
import { auditServer, type NameEdit, placeKey } from '../rename/find-occurrences.ts';
import { reconcile } from '../rename/reconcile.ts';
import { type ServerPlan, serverRename } from '../rename/server-rename.ts';
import { type Planner, requireEditable, type Work } from '../work.ts';

type Rename = OperationOf<'rename_symbol'>;

interface Whole {
  readonly edits: readonly NameEdit[];
  readonly confidence: Confidence;
  readonly residual: readonly Residual[];
  /** Kinds of residual that make the rename unsafe. */
  readonly unsafe: readonly ResidualKind[];
}

const MAX_SHOWN = 20;

export const renameSymbol: Planner<'rename_symbol'> = async (operation, work) => {
  const { new_name: newName } = operation;
  const target = await work.desk.target({ ...operation, isNameOnly: true });
  requireEditable(target.draft, operation);
  requireName(target, newName);
  const byScope = await planByScope(target, operation, work);
  if (byScope.refused !== undefined && isFinal(byScope.refused)) throw refusal(byScope.refused, target);
  if (byScope.conflicts.length > 0) throw conflicting(target, newName, byScope.conflicts);
  const byServer = await serverRename(target, newName, work);
  const whole = await join(target, byScope, byServer, { operation, work });
  const { edits, spared } = await spareGenerated(whole.edits, operation, work);
  const residual = [...whole.residual, ...spared];
  if (operation.on_residual === 'refuse') requireClean(target, residual, [...whole.unsafe, 'generated']);
  if (edits.length === 0) throw nothing(target);
  const renamedIds = await applyNames(target, newName, edits, work);
  return { confidence: whole.confidence, residual, renamedIds };
};

function requireName({ draft, node }: Target, newName: string): void {
  const bad = checkName(draft.profile, node.name, newName);
  if (bad === undefined) return;
  throw refuseEdit('invalid_name', bad.message, { path: 'new_name', next: 'choose another name' });
}

function planByScope({ draft, node }: Target, operation: Rename, { desk }: Work): Promise<RenamePlan> {
  const { engine, signal } = desk.parts;
  return planRename({
    files: desk.files,
    engine,
    target: { path: draft.path, nameStart: node.nameSpan.start, name: node.name },
    newName: operation.new_name,
    allowGenerated: operation.allow_generated,
    ...(signal === undefined ? {} : { signal }),
  });
}

/** Nothing a server says could make it right. */
function isFinal({ reason }: Refusal): boolean {
  return ['invalid_name', 'stale_target', 'visibility', 'nothing_to_edit'].includes(reason);
}

interface Context {
  readonly operation: Rename;
  readonly work: Work;
}

async function join(
  target: Target,
  byScope: RenamePlan,
  byServer: ServerPlan | undefined,
  { operation, work }: Context,
): Promise<Whole> {
  const answered = byServer !== undefined && 'edits' in byServer ? byServer : undefined;
  if (byServer !== undefined && 'unavailable' in byServer) work.warn(withoutServer(byServer.unavailable));
  if (byScope.refused !== undefined) {
    if (answered === undefined) throw cannotPlan(byScope.refused, byServer, target);
    return serverAlone(target, answered, { operation, work });
  }
  const residual = byScope.residual.map(asResidual);
  if (answered === undefined) {
    return { edits: byScope.edits, confidence: 'resolver', residual, unsafe: ['code', 'macro', 'generated'] };
  }
  const { edits, confidence } = await reconcile(target, byScope, answered.edits, work);
  const left = [...(await notEdited(residual, edits, work)), ...answered.ignored];
  // What a server of the whole project did not touch is something else; macros are beyond it.
  return { edits, confidence, residual: left, unsafe: confidence === 'resolver' ? ['code', 'macro'] : ['macro'] };
}

async function serverAlone(
  target: Target,
  { server, edits, ignored }: Extract<ServerPlan, { readonly server: unknown }>,
  { operation, work }: Context,
): Promise<Whole> {
  const collisions = await findCollisions(target, operation.new_name, edits, work);
  if (collisions.length > 0) throw conflicting(target, operation.new_name, collisions);
  const residual = [...(await auditServer(target, edits, server, work)), ...ignored];
  return { edits, confidence: 'server', residual, unsafe: ['code', 'member', 'macro', 'unparsed'] };
}

function asResidual({ path, line, col, kind, isGenerated }: RenamePlan['residual'][number]): Residual {
  return { file: path, line, col, kind: isGenerated === true ? 'generated' : kind === 'opaque' ? 'macro' : kind };
}

async function notEdited(
  residual: readonly Residual[],
  edits: readonly NameEdit[],
  { desk }: Work,
): Promise<readonly Residual[]> {
  const edited = new Set(edits.map(placeKey));
  const left: Residual[] = [];
  for (const one of residual) {
    const { source } = await desk.draft(one.file);
    const start = source.toByte(source.lineStart(one.line - 1) + one.col - 1);
    if (!edited.has(placeKey({ path: one.file, start }))) left.push(one);
  }
  return left;
}

/** Generated and vendored files are left as they are, and named. */
async function spareGenerated(
  edits: readonly NameEdit[],
  { allow_generated: isAllowed }: Rename,
  { desk }: Work,
): Promise<{ readonly edits: readonly NameEdit[]; readonly spared: readonly Residual[] }> {
  const kept: NameEdit[] = [];
  const spared: Residual[] = [];
  for (const edit of edits) {
    const { facts, source } = await desk.draft(edit.path);
    if (isAllowed || !facts.generated) kept.push(edit);
    else {
      const at = source.toOffset(edit.start);
      const row = source.rowOf(at);
      spared.push({ file: edit.path, line: row + 1, col: at - source.lineStart(row) + 1, kind: 'generated' });
    }
  }
  return { edits: kept, spared };
}

function requireClean(target: Target, residual: readonly Residual[], unsafe: readonly ResidualKind[]): void {
  const found = residual.filter(({ kind }) => unsafe.includes(kind));
  if (found.length === 0) return;
  throw refuseEdit('residual', `Old name would be left in code that may mean the symbol: ${target.node.name}`, {
    path: target.draft.path,
    next: 'look at these places; when they mean something else, pass on_residual: report',
    details: {
      count: found.length,
      residual: found.slice(0, MAX_SHOWN).map(({ file, line, col, kind }) => ({ file, line, col, kind })),
    },
  });
}

function conflicting(target: Target, newName: string, conflicts: readonly (RenameConflict | Collision)[]): ToolError {
  const places = conflicts.slice(0, MAX_SHOWN).map(({ path, line, kind }): JsonObject => ({ file: path, line, kind }));
  return refuseEdit('name_conflict', `New name is taken where it would be used: ${newName}`, {
    path: 'new_name',
    next: 'choose another name',
    details: { conflicts: places, count: conflicts.length, symbol: target.node.name },
  });
}

function refusal({ reason, message, at }: Refusal, { draft }: Target): ToolError {
  return refuseEdit(reason === 'stale_target' ? 'stale_node' : reason, message, {
    path: at?.path ?? draft.path,
    next: reason === 'visibility' ? 'choose a name that keeps the visibility' : 'choose another name or symbol',
    ...(at === undefined ? {} : { details: { line: at.line, col: at.col } }),
  });
}

/** Only a language server can do it, and none is available or it does not answer. */
function cannotPlan(why: Refusal, byServer: ServerPlan | undefined, { draft }: Target): ToolError {
  if (byServer !== undefined && 'unavailable' in byServer) return byServer.unavailable;
  const { reason, message, at } = why;
  return refuseEdit(reason, message, {
    path: at?.path ?? draft.path,
    next:
      reason === 'parse_error'
        ? 'fix the file first, or configure a language server'
        : 'configure a language server for this language, or edit by hand',
    ...(at === undefined ? {} : { details: { line: at.line, col: at.col } }),
  });
}

function withoutServer({ message, details }: ToolError): string {
  return `planned without the language server: ${message} (${String(details['reason'] ?? 'unknown')})`;
}

function nothing({ node, draft }: Target): ToolError {
  return refuseEdit('nothing_to_edit', `Rename would touch no file: ${node.name}`, {
    path: draft.path,
    next: 'look at the residual places',
  });
}

/** What the new name would meet, for renames planned by a server alone: servers accept names that are taken. */
interface Collision {
  readonly path: string;
  readonly line: number;
  readonly kind: string;
}

async function findCollisions(
  target: Target,
  newName: string,
  edits: readonly NameEdit[],
  { desk }: Work,
): Promise<readonly Collision[]> {
  const { draft, node } = target;
  const found: Collision[] = draft.facts.nodes
    .filter((one) => one.name === newName && one.container === node.container && one.parent === node.parent)
    .map(({ line }) => ({ path: draft.path, line, kind: 'collision' }));
  for (const [path, own] of Map.groupBy(edits, (edit) => edit.path)) {
    const file = await desk.draft(path);
    if (file.parser.queries.locals === undefined) continue;
    const scopes = resolveScopes(file.parsed);
    for (const { start } of own) {
      const token = scopes.tokenAt(file.source.toOffset(start));
      if (token === undefined || token.role === 'member' || token.role === 'other') continue;
      const taken = lookUp({ name: newName, spaces: token.spaces, scope: token.scope, at: token.start });
      if (taken === undefined) continue;
      found.push({ path, line: file.source.rowOf(token.start) + 1, kind: 'capture' });
    }
  }
  return found;
}
