/** tx_begin: opens a transaction, which the session's following calls join. */
import { z } from 'zod';
import { defineTool } from '../../contracts/tool.ts';
import { openTransaction, transactionRow } from './tx-fields.ts';

export const txBegin = defineTool({
  name: 'tx_begin',
  category: 'changes',
  title: 'Begin a transaction',
  summary: 'Begin a transaction: what the following calls change becomes real together with tx_commit, or not at all',
  policyNotes:
    'Commands can be part of it where they can run on an overlay; ends with the session and when it is not used for long',
  args: z.strictObject({}),
  data: transactionRow,
  annotations: {
    kind: 'edit',
    side_effect_level: 'workspace_write',
    arg_schema: {},
    capabilities: { workspace: ['read', 'write'] },
  },
  effect: 'write',
  rehearse: 'none',
  risk: 'low',
  timeoutMs: 60_000,
  inTransaction: 'outside',
  ofTransaction: 'begin',
  // It touches no file, so it need not wait for calls that do.
  writes: 'unknown',
  present: ({ tx_id, expires_at }) => `${tx_id} is open; it ends by itself when no call joins it until ${expires_at}`,
  run: async (_args, { transactions }) => openTransaction(await transactions.begin()),
});
