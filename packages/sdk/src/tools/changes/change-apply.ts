/** change_apply: makes a pending change set real, all of it or nothing. */
import { ToolError } from '@tool-runtime/protocol';
import { z } from 'zod';
import type { ChangeHistory, ChangeSet, StagedChange } from '../../changes/change-set.ts';
import { defineTool } from '../../contracts/tool.ts';
import type { ToolText } from '../../contracts/tool-text.ts';
import { counted, shownName } from '../../present/rows.ts';
import { changeId, pathRow, requireChangeable, requireSet, rowOf, rowText } from './change-fields.ts';

const args = z.strictObject({ change_id: changeId });

const data = z.strictObject({
  applied: z.literal(true),
  paths: z.array(pathRow),
});

export const changeApply = defineTool({
  name: 'change_apply',
  category: 'changes',
  title: 'Apply a pending change',
  summary: 'Make a pending change set real, all of it or nothing',
  policyNotes: 'Path rules and protected files hold as for every write; a file that changed since is a conflict',
  args,
  data,
  annotations: {
    kind: 'edit',
    side_effect_level: 'workspace_write',
    arg_schema: { arg_aliases: { id: 'change_id' }, required: ['change_id'] },
    capabilities: { workspace: ['read', 'write'] },
  },
  // It writes and removes files, so it needs the permission of the tools that do.
  operations: () => ({ workspace: ['write_text', 'delete'] }),
  effect: 'write',
  inTransaction: 'refused',
  rehearse: 'none',
  risk: 'medium',
  timeoutMs: 60_000,
  present: ({ paths }): ToolText => ({
    head: `applied: ${counted(paths.length, 'path')}`,
    parts: [{ type: 'text', text: paths.map(rowText) }],
  }),
  async run({ change_id }, { history, workspace }) {
    const set = requirePending(history, change_id);
    const names = requireChangeable(set.paths, { history, workspace });
    const staged = set.paths.map((change, at): StagedChange => {
      const { after } = change;
      if (after.kind !== 'file') return change;
      const bytes = history.bytes(after.digest);
      if (bytes === undefined) throw notKept(names[at] ?? '');
      return { ...change, source: { bytes } };
    });
    await history.commit(staged);
    history.setStatus(set.change_id, 'applied');
    return {
      applied: true as const,
      paths: set.paths.map((one, at) => rowOf({ ...one, name: names[at] ?? '' })),
    };
  },
});

export function requirePending(history: ChangeHistory, id: string): ChangeSet {
  const set = requireSet(history, id);
  if (set.status === 'pending') return set;
  throw new ToolError('E_VALIDATION_FAIL', `Change set is not pending: ${id} is ${set.status}`, {
    path: 'change_id',
    details: { reason: 'not_pending', next: 'Take one with status pending from change_list' },
  });
}

function notKept(name: string): ToolError {
  return new ToolError('E_FILE_IO', `New content of ${shownName(name)} was not kept, so nothing was applied`, {
    path: name.toWellFormed(),
    details: { reason: 'not_kept', next: 'Run the call again; changes.max_file_mib of the registry says what is kept' },
  });
}
