/** change_discard: drops a pending change set; nothing of it was ever real. */
import { z } from 'zod';
import { defineTool } from '../../contracts/tool.ts';
import { requirePending } from './change-apply.ts';
import { changeId, requireChangeable } from './change-fields.ts';

const args = z.strictObject({ change_id: changeId });
const data = z.strictObject({ discarded: z.literal(true) });

export const changeDiscard = defineTool({
  name: 'change_discard',
  category: 'changes',
  title: 'Discard a pending change',
  summary: 'Drop a pending change set, so that it can no longer be applied',
  args,
  data,
  annotations: {
    kind: 'edit',
    side_effect_level: 'workspace_write',
    arg_schema: { arg_aliases: { id: 'change_id' }, required: ['change_id'] },
    capabilities: { workspace: ['write'] },
  },
  effect: 'write',
  inTransaction: 'refused',
  rehearse: 'none',
  risk: 'low',
  timeoutMs: 30_000,
  present: (_data, { change_id }) => ({ head: `discarded ${change_id}` }),
  run({ change_id }, { history, workspace }) {
    const set = requirePending(history, change_id);
    requireChangeable(set.paths, { history, workspace });
    history.setStatus(set.change_id, 'discarded');
    return { discarded: true as const };
  },
});
