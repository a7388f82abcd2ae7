/**
 * change_undo: takes back what a call changed in files, or everything since a call, and keeps what others changed meanwhile.
 *
 * All or nothing. The undo is a change set itself, so it can be undone.
 */
import { isToolError, ToolError } from '@tool-runtime/protocol';
import { z } from 'zod';
import { ABSENT, type ChangeSet, type PathChange } from '../../changes/change-set.ts';
import { combineSets, type InTheWay, planUndo, type UndoGround } from '../../changes/plan-undo.ts';
import { defineTool, type ToolContext } from '../../contracts/tool.ts';
import { callText, type ToolText } from '../../contracts/tool-text.ts';
import { sha256Hex } from '../../platform/digest.ts';
import { counted, shownName } from '../../present/rows.ts';
import { mergeLines } from '../../text/line-diff.ts';
import { changeId, pathRow, requireChangeable, requireInside, requireSet, rowOf, rowText } from './change-fields.ts';

const MAX_SETS = 10_000;
const MAX_NAMED = 20;

const args = z.strictObject({
  change_id: changeId,
  through_now: z.boolean().default(false).describe('Also everything that calls changed after it'),
  paths: z
    .array(z.string().min(1))
    .min(1)
    .max(1000)
    .exactOptional()
    .describe('Only these files, or files in these folders'),
});

const data = z.strictObject({
  undone: z.array(z.string()).describe('Change sets that were taken back'),
  paths: z.array(pathRow).describe('What the undo did'),
  merged: z.array(z.string()).describe('Files in which later changes of others were kept'),
});

export const changeUndo = defineTool({
  name: 'change_undo',
  category: 'changes',
  title: 'Undo a change',
  summary: 'Take back what a call changed in files, keeping later changes of others',
  policyNotes:
    'Path rules and protected files hold as for every write; files that others changed in the same lines are refused',
  args,
  data,
  annotations: {
    kind: 'edit',
    side_effect_level: 'workspace_write',
    arg_schema: {
      path_params: ['paths'],
      set_params: ['paths'],
      arg_aliases: { id: 'change_id' },
      required: ['change_id'],
    },
    capabilities: { workspace: ['read', 'write'] },
  },
  // It writes and removes files, so it needs the permission of the tools that do.
  operations: () => ({ workspace: ['write_text', 'delete'] }),
  effect: 'write',
  inTransaction: 'refused',
  rehearse: 'none',
  risk: 'medium',
  timeoutMs: 60_000,
  present: presentUndo,
  async run({ change_id, through_now, paths }, context) {
    const { history } = context;
    const first = requireSet(history, change_id);
    const sets = (through_now ? setsSince(first, context) : [first]).filter(({ status }) => status === 'applied');
    if (sets.length === 0) throw notApplied(first);
    const verb = paths === undefined ? sets.find(({ recovery }) => recovery !== undefined) : undefined;
    if (verb !== undefined) throw ofGit(verb);
    const changes = combineSets(sets).filter(({ path }) => isWanted(history.inner(path) ?? path, paths));
    requireInside(changes, history);
    const { staged, merged, inTheWay } = await planUndo(changes, groundOf(changes, context));
    if (inTheWay.length > 0) throw blocked(inTheWay, sets, context);
    const names = requireChangeable(staged, context);
    await history.commit(staged);
    if (paths === undefined) for (const set of sets) history.setStatus(set.change_id, 'undone');
    return {
      undone: sets.map((set) => set.change_id),
      paths: staged.map((change, at) => rowOf({ ...change, name: names[at] ?? '' })),
      merged: merged.map((path) => (history.inner(path) ?? path).toWellFormed()),
    };
  },
});

/** Newest first; undone ones are over already. */
function setsSince(first: ChangeSet, { history }: ToolContext): readonly ChangeSet[] {
  const all = history.list({ limit: MAX_SETS });
  const end = all.findIndex(({ change_id }) => change_id === first.change_id);
  return end < 0 ? [first] : all.slice(0, end + 1);
}

function isWanted(name: string, paths: readonly string[] | undefined): boolean {
  return paths === undefined || paths.some((path) => name === path || name.startsWith(`${path.replace(/\/+$/, '')}/`));
}

function groundOf(changes: readonly PathChange[], { history }: ToolContext): UndoGround {
  const inner = (path: string): string => history.inner(path) ?? path;
  const content = async (digest: string): Promise<Uint8Array | undefined> => {
    const kept = history.bytes(digest);
    if (kept !== undefined) return kept;
    // What was moved is where the move put it.
    for (const { path } of changes.filter(({ after }) => after.kind === 'file' && after.digest === digest)) {
      const found = await history.read(path, digest);
      if (found !== undefined) return found;
    }
    return undefined;
  };
  return {
    async look(path) {
      try {
        const { states } = await history.capture(inner(path), { keep: true, alone: true });
        return states.get(path) ?? ABSENT;
      } catch (thrown) {
        // A link out of the workspace is where a folder was: behind it is nothing of ours, and the commit follows no link.
        if (isToolError(thrown) && thrown.details['reason'] === 'EXDEV') return ABSENT;
        throw thrown;
      }
    },
    async hasOthers(folder, paths) {
      const { isWhole, states } = await history.capture(inner(folder), { keep: false });
      return !isWhole || [...states.keys()].some((path) => path !== folder && !paths.has(path));
    },
    content,
    digest: sha256Hex,
    merge: mergeLines,
  };
}

/** Its files alone would be taken back, and not the branch and the index. */
function ofGit({ change_id, tool, recovery = '' }: ChangeSet): ToolError {
  return new ToolError('E_VALIDATION_FAIL', `Change set ${change_id} is of ${tool}, which changed the repository too`, {
    path: 'change_id',
    details: {
      reason: 'git_verb',
      recovery,
      next: `${callText('git_recover', { recovery })} takes all of it back; name files in \`paths\` to take those back alone`,
    },
  });
}

function notApplied({ change_id, status }: ChangeSet): ToolError {
  return new ToolError('E_VALIDATION_FAIL', `Change set is not in force: ${change_id} is ${status}`, {
    path: 'change_id',
    details: { reason: 'not_applied', next: 'An undone change comes back by undoing the change set of its undo' },
  });
}

/** Names both: the change that was to be taken back, and the later one that is in the way. */
function blocked(found: readonly InTheWay[], sets: readonly ChangeSet[], { history }: ToolContext): ToolError {
  const [first] = found;
  const name = shownName(history.inner(first?.path ?? '') ?? '');
  const isLost = first?.reason === 'not_kept';
  const own = new Set(sets.map(({ change_id }) => change_id));
  // Newest first: what stands behind one of these is earlier.
  const all = history.list({ limit: MAX_SETS });
  const newer = all.slice(
    0,
    all.findIndex(({ change_id }) => own.has(change_id)),
  );
  const later = newer.find(
    ({ status, paths }) => status === 'applied' && paths.some(({ path }) => path === first?.path),
  );
  const by = later === undefined ? 'outside of the tools' : `by change set ${later.change_id}`;
  const message = isLost
    ? `Earlier content of ${name} was not kept, so nothing was undone`
    : `${name} was changed in the same place later (${by}), so nothing was undone`;
  return new ToolError('E_FILE_IO', message, {
    path: name,
    details: {
      reason: isLost ? 'not_kept' : 'overlap',
      change_id: sets[0]?.change_id ?? '',
      ...(later === undefined || isLost ? {} : { later_change_id: later.change_id }),
      paths: found.slice(0, MAX_NAMED).map(({ path }) => (history.inner(path) ?? path).toWellFormed()),
      next: 'Undo the later change first, or name the other files in `paths`',
    },
  });
}

function presentUndo({ undone, paths, merged }: z.output<typeof data>): ToolText {
  const kept = merged.length === 0 ? '' : `; later changes kept in ${counted(merged.length, 'file')}`;
  const head = `undone: ${counted(undone.length, 'change set')}, ${counted(paths.length, 'path')}${kept}`;
  return { head, parts: [{ type: 'text', text: paths.map(rowText) }] };
}
