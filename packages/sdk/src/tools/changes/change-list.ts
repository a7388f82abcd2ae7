/** change_list: what calls changed in files, newest first. */
import { z } from 'zod';
import { defineTool } from '../../contracts/tool.ts';
import type { ToolText } from '../../contracts/tool-text.ts';
import { counted } from '../../present/rows.ts';
import { pathRow, rowOf, rowText, visiblePaths } from './change-fields.ts';
import { openTransaction, transactionRow } from './tx-fields.ts';

const MAX_PATHS = 20;

const args = z.strictObject({
  limit: z.int().min(1).max(200).default(20).describe('Change sets to list'),
  status: z.enum(['applied', 'pending', 'discarded', 'undone']).exactOptional().describe('Only those'),
  own: z.boolean().default(false).describe('Only those of this session'),
});

const data = z.strictObject({
  changes: z.array(
    z.strictObject({
      change_id: z.string(),
      tool: z.string(),
      actor: z.string(),
      at: z.string(),
      status: z.string(),
      files: z.int().describe('Paths of the change set'),
      paths: z.array(pathRow).describe('The first of them'),
      withheld: z.int().describe('Paths that this session may not see'),
      recovery: z.string().optional().describe('Of a git verb: for git_recover'),
    }),
  ),
  transactions: z.array(transactionRow).describe('Open transactions, oldest first'),
});

export const changeList = defineTool({
  name: 'change_list',
  category: 'changes',
  title: 'List change sets',
  summary: 'List what calls changed in files, newest first, and open transactions',
  args,
  data,
  annotations: {
    kind: 'read',
    side_effect_level: 'read_only',
    arg_schema: {},
    capabilities: { workspace: ['read'] },
  },
  effect: 'read',
  inTransaction: 'outside',
  risk: 'low',
  timeoutMs: 30_000,
  present: presentList,
  run({ limit, status, own }, context) {
    const found = context.history.list({
      limit,
      ...(status === undefined ? {} : { status }),
      ...(own ? { session_id: context.sessionId } : {}),
    });
    const changes = found.flatMap((set) => {
      const { shown, withheld } = visiblePaths(set.paths, context);
      // Of which this session may see nothing, it need not know.
      if (shown.length === 0 && withheld > 0) return [];
      const { change_id, tool, actor } = set;
      const paths = shown.slice(0, MAX_PATHS).map(rowOf);
      const at = new Date(set.at).toISOString();
      const told = { change_id, tool, actor, at, status: set.status, files: set.paths.length, paths, withheld };
      return [set.recovery === undefined ? told : { ...told, recovery: set.recovery }];
    });
    return { changes, transactions: context.transactions.list().map(openTransaction) };
  },
});

function presentList({ changes, transactions }: z.output<typeof data>): ToolText {
  const rows = changes.map(({ change_id, tool, at, status, files, paths }) =>
    [`${change_id} ${at} ${tool} ${status}: ${counted(files, 'path')}`, ...paths.map(rowText)].join('\n'),
  );
  const open = transactions.map(
    ({ tx_id, at, actor, expires_at }) => `${tx_id} ${at} open by ${actor} until ${expires_at}`,
  );
  return {
    head: [counted(changes.length, 'change set'), ...open].join('\n'),
    parts: [{ type: 'text', text: rows }],
  };
}
