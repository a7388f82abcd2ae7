/** approvals list: who wants to do what, and why it needs a yes. */
import type { PendingApproval } from '@tool-runtime/protocol';
import type { Command } from 'commander';
import { plainText } from '../../../terminal/plain-text.ts';
import { paint, printJson, printLine } from '../../../terminal/terminal.ts';
import { type Done, type SharedOptions, withSharedOptions } from '../../command.ts';

export function addList(command: Command, done: Done): void {
  withSharedOptions(
    command.command('list', { isDefault: true }).description('Questions that wait for an answer'),
  ).action(async (options: SharedOptions) => {
    const [{ pendingApprovalSchema }, { z }] = await Promise.all([import('@tool-runtime/protocol'), import('zod')]);
    const { askHost } = await import('../../ask-host.ts');
    const { stateOf } = await import('../../state-of.ts');
    const answer = await askHost(stateOf(options), { method: 'GET', path: '/v1/approvals' });
    const { approvals } = z.strictObject({ approvals: z.array(pendingApprovalSchema) }).parse(answer);
    for (const approval of approvals) {
      if (options.json === true) printJson(approval, { compact: true });
      else for (const line of describe(approval)) printLine(line);
    }
    if (approvals.length === 0 && options.json !== true) printLine('nothing waits for an answer');
    done(0);
  });
}

function describe(approval: PendingApproval): readonly string[] {
  const left = Math.max(0, Math.round(approval.expires_at - Date.now() / 1000));
  return [
    `${paint('bold', approval.approval_id)}  ${plainText(approval.tool)}  by ${plainText(approval.actor)}, ${left} s left`,
    `  because ${plainText(approval.reason)}`,
    `  ${plainText(JSON.stringify(approval.args))}`,
  ];
}
