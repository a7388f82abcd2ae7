/** tx_commit: makes all that a transaction changed real, or nothing of it. */
import { z } from 'zod';
import { defineTool } from '../../contracts/tool.ts';
import type { ToolText } from '../../contracts/tool-text.ts';
import { counted } from '../../present/rows.ts';
import { pathRow, rowOf, rowText } from './change-fields.ts';
import { txId } from './tx-fields.ts';

const TEN_MINUTES_MS = 600_000;
const HOUR_MS = 3_600_000;

const args = z.strictObject({
  tx_id: txId,
  timeout_ms: z.int().min(1).max(HOUR_MS).exactOptional().describe('For rules and commands that check it, too'),
});

const data = z.strictObject({
  tx_id: z.string().describe('Also the `change_id` of what was committed'),
  paths: z.array(pathRow),
  merged: z.array(z.string()).describe('Files that others changed too, in other lines'),
  checked: z.array(z.string()).describe('Commands of the registry that passed on the staged tree'),
});

export const txCommit = defineTool({
  name: 'tx_commit',
  category: 'changes',
  title: 'Commit a transaction',
  summary: 'Make all that a transaction changed real, or nothing: rules and the build and test commands check it first',
  policyNotes:
    'Rules, parsers and the commands of changes.tx_checks run on the staged tree; path rules and protected files hold as for every write; a file that others changed in the same lines is a conflict, and the transaction stays open',
  args,
  data,
  annotations: {
    kind: 'edit',
    side_effect_level: 'workspace_write',
    arg_schema: { arg_aliases: { id: 'tx_id' } },
    capabilities: { workspace: ['read', 'write'] },
  },
  // It writes and removes files, so it needs the permission of the tools that do.
  operations: () => ({ workspace: ['write_text', 'delete'] }),
  effect: 'write',
  rehearse: 'run',
  risk: 'medium',
  timeoutMs: TEN_MINUTES_MS,
  maxTimeoutMs: HOUR_MS,
  timeoutArg: 'timeout_ms',
  inTransaction: 'outside',
  ofTransaction: 'commit',
  present: presentCommit,
  async run({ tx_id }, { transactions }) {
    const { paths, ...committed } = await transactions.commit(tx_id);
    return {
      tx_id: committed.tx_id,
      paths: paths.map((change) => rowOf({ ...change, name: change.path })),
      merged: committed.merged.map((path) => path.toWellFormed()),
      checked: [...committed.checked],
    };
  },
});

function presentCommit({ tx_id, paths, merged, checked }: z.output<typeof data>): ToolText {
  const passed = checked.length === 0 ? '' : `; passed: ${checked.join(', ')}`;
  const kept = merged.length === 0 ? '' : `; changes of others kept in ${counted(merged.length, 'file')}`;
  return {
    head: `committed ${tx_id}: ${counted(paths.length, 'path')}${passed}${kept}`,
    parts: [{ type: 'text', text: paths.map(rowText) }],
  };
}
