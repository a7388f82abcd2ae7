/** What the change tools share: finding a set, what of it this call may see, and how it is told. */
import { isToolError, ToolError } from '@tool-runtime/protocol';
import { z } from 'zod';
import type { ChangeHistory, ChangeSet, PathChange } from '../../changes/change-set.ts';
import { policyDenial } from '../../contracts/failures.ts';
import type { ToolContext } from '../../contracts/tool.ts';
import { shownName } from '../../present/rows.ts';

export const changeId = z
  .string()
  .min(1)
  .max(200)
  .describe('`change_id` from the answer of a call or from change_list, or its first 4 characters or more');

export const pathRow = z.strictObject({
  path: z.string(),
  change: z.enum(['created', 'deleted', 'changed']),
});

/** The set with this id, or the only one of the newest whose id begins with it. */
export function requireSet(history: ChangeHistory, id: string): ChangeSet {
  const found = history.get(id);
  if (found !== undefined) return found;
  const alike = id.length < MIN_PREFIX ? [] : newestWith(history, id);
  const [only, ...more] = alike;
  if (only !== undefined && more.length === 0) return only;
  throw new ToolError(
    'E_VALIDATION_FAIL',
    `${more.length > 0 ? 'Several change sets begin with' : 'No such change set:'} ${shownName(id)}`,
    {
      path: 'change_id',
      details: {
        reason: more.length > 0 ? 'ambiguous_change' : 'unknown_change',
        ...(more.length > 0 ? { change_ids: alike.slice(0, MAX_NAMED).map(({ change_id }) => change_id) } : {}),
        next: 'Take a change_id from change_list; old ones are deleted after a while',
      },
    },
  );
}

const MIN_PREFIX = 4;
const MAX_NAMED = 10;
const MAX_SEARCHED = 1000;

function newestWith(history: ChangeHistory, prefix: string): readonly ChangeSet[] {
  return history.list({ limit: MAX_SEARCHED }).filter(({ change_id }) => change_id.startsWith(prefix));
}

/** The names that the session has for the paths. Throws E_POLICY when one is outside its folder. */
export function requireInside(
  changes: readonly PathChange[],
  { inner }: Pick<ChangeHistory, 'inner'>,
): readonly string[] {
  return changes.map(({ path }) => {
    const name = inner(path);
    if (name === undefined) throw outsideFolder();
    return name;
  });
}

/** The same; throws E_POLICY also when the session may not make one of the changes. */
export function requireChangeable(
  changes: readonly PathChange[],
  { history, workspace }: Pick<ToolContext, 'history' | 'workspace'>,
): readonly string[] {
  const names = requireInside(changes, history);
  changes.forEach(({ after }, at) => {
    const access = after.kind === 'absent' ? 'delete' : 'write';
    workspace.requireAllowed(askable(names[at] ?? ''), access, 'themselves');
  });
  return names;
}

function outsideFolder(): ToolError {
  return policyDenial('Change set has paths outside the folder of this session', {
    path: 'change_id',
    details: { reason: 'outside_folder', next: 'name paths inside the folder in `paths`, or ask the parent session' },
  });
}

export interface VisiblePaths {
  readonly shown: readonly (PathChange & { readonly name: string })[];
  /** Paths outside the folder of the session, or that it may not read. */
  readonly withheld: number;
}

export function visiblePaths(paths: readonly PathChange[], { history, workspace }: ToolContext): VisiblePaths {
  const shown = paths.flatMap((change) => {
    const name = history.inner(change.path);
    return name !== undefined && mayUse(workspace, name, 'read') ? [{ ...change, name }] : [];
  });
  return { shown, withheld: paths.length - shown.length };
}

/** A name that is no UTF-8 can be in no rule; it counts as its folder. */
export function mayUse(workspace: ToolContext['workspace'], name: string, access: 'read'): boolean {
  try {
    workspace.requireAllowed(askable(name), access, 'themselves');
    return true;
  } catch (thrown) {
    if (isToolError(thrown)) return false;
    throw thrown;
  }
}

export function askable(name: string): string {
  return name.toWellFormed();
}

export function rowOf({ before, after, name }: VisiblePaths['shown'][number]): z.output<typeof pathRow> {
  const change = before.kind === 'absent' ? 'created' : after.kind === 'absent' ? 'deleted' : 'changed';
  return { path: name.toWellFormed(), change };
}

const MARKS = { created: 'A', deleted: 'D', changed: 'M' } as const;

export function rowText({ path, change }: z.output<typeof pathRow>): string {
  return `  ${MARKS[change]} ${shownName(path)}`;
}
