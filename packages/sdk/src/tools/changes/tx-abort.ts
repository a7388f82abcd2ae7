/** tx_abort: gives up a transaction; nothing of it becomes real. */
import { z } from 'zod';
import { defineTool } from '../../contracts/tool.ts';
import { counted } from '../../present/rows.ts';
import { txId } from './tx-fields.ts';

const data = z.strictObject({
  tx_id: z.string(),
  discarded: z.int().describe('Paths that it had changed'),
});

export const txAbort = defineTool({
  name: 'tx_abort',
  category: 'changes',
  title: 'Abort a transaction',
  summary: 'Give up a transaction: nothing that its calls changed becomes real',
  args: z.strictObject({ tx_id: txId }),
  data,
  annotations: {
    kind: 'edit',
    side_effect_level: 'workspace_write',
    arg_schema: { arg_aliases: { id: 'tx_id' } },
    capabilities: { workspace: ['read', 'write'] },
  },
  effect: 'write',
  rehearse: 'none',
  risk: 'low',
  timeoutMs: 60_000,
  inTransaction: 'outside',
  ofTransaction: 'abort',
  writes: 'unknown',
  present: ({ tx_id, discarded }) => `aborted ${tx_id}: ${counted(discarded, 'path')} discarded`,
  async run({ tx_id }, { transactions }) {
    const { tx_id: id, paths } = await transactions.abort(tx_id);
    return { tx_id: id, discarded: paths.length };
  },
});
