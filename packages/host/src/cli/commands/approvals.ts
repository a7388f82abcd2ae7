/** tool-runtime approvals: look at the questions that wait on the running host, and answer them. */
import type { AnswerApprovalBody, PendingApproval } from '@tool-runtime/protocol';
import type { Command } from 'commander';
import { badUsage } from '../../terminal/bad-usage.ts';
import { plainText } from '../../terminal/plain-text.ts';
import { paint, printJson, printLine, showError } from '../../terminal/terminal.ts';
import { type Done, defineCommand, type SharedOptions, withSharedOptions } from '../command.ts';

export const approvals = defineCommand({
  name: 'approvals',
  summary: 'List and answer approval questions of the running host',
  configure(command, done) {
    for (const add of [addList, addAllow, addDeny]) add(command, done);
  },
});

/** approvals list: who wants to do what, and why it needs a yes. */
function addList(command: Command, done: Done): void {
  withSharedOptions(
    command.command('list', { isDefault: true }).description('List questions that wait for an answer'),
  ).action(async (options: SharedOptions) => {
    const { pendingApprovalSchema } = await import('@tool-runtime/protocol');
    const { askHost } = await import('../ask-host.ts');
    const { stateOf } = await import('../state-of.ts');
    const answer = await askHost(stateOf(options), { method: 'GET', path: '/v1/approvals' });
    const approvals = pendingApprovalSchema.array().parse((answer as { readonly approvals: unknown }).approvals);
    for (const approval of approvals) {
      if (options.json === true) printJson(approval, { compact: true });
      else for (const line of describe(approval)) printLine(line);
    }
    if (approvals.length === 0 && options.json !== true) printLine('no questions are waiting');
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

/** The exit code: an answer that came too late is no mistake of the command line. */
async function answerApproval(id: string, body: AnswerApprovalBody, options: SharedOptions): Promise<0 | 1> {
  const { approvalAnsweredSchema, isToolError } = await import('@tool-runtime/protocol');
  const { askHost } = await import('../ask-host.ts');
  const { stateOf } = await import('../state-of.ts');
  const path = `/v1/approvals/${encodeURIComponent(id)}`;
  try {
    const answered = approvalAnsweredSchema.parse(await askHost(stateOf(options), { method: 'POST', path, body }));
    if (options.json === true) printJson(answered, { compact: true });
    else printLine(`${answered.approval_id} ${answered.answer} by ${answered.by}`);
    return 0;
  } catch (thrown) {
    if (!isToolError(thrown)) throw thrown;
    const { next } = thrown.details;
    showError(thrown.message, typeof next === 'string' ? next : undefined);
    return 1;
  }
}

interface AllowOptions extends SharedOptions {
  readonly session?: boolean;
  readonly args?: string;
}

/** approvals allow: yes, once or for the session; with other arguments they are judged again. */
function addAllow(command: Command, done: Done): void {
  withSharedOptions(command.command('allow').description('Allow the call'))
    .argument('<id>', 'approval id')
    .option('--session', 'also allow further calls like it in the same session')
    .option('--args <json>', 'arguments to use instead; they are checked from the start')
    .action(async (id: string, options: AllowOptions) => {
      const args = options.args === undefined ? undefined : parseArgs(options.args);
      const answer = options.session === true ? 'approved_for_session' : 'approved';
      done(await answerApproval(id, { answer, ...(args === undefined ? {} : { args }) }, options));
    });
}

function parseArgs(text: string): Record<string, never> {
  try {
    const value: unknown = JSON.parse(text);
    if (typeof value === 'object' && value !== null && !Array.isArray(value)) return value as Record<string, never>;
  } catch {
    // Said below, the same for everything that is no object.
  }
  throw badUsage('--args takes a JSON object');
}

interface DenyOptions extends SharedOptions {
  readonly reason?: string;
}

/** approvals deny: no, with a reason the caller reads. */
function addDeny(command: Command, done: Done): void {
  withSharedOptions(command.command('deny').description('Deny the call'))
    .argument('<id>', 'approval id')
    .option('--reason <text>', 'reason to give to the caller')
    .action(async (id: string, options: DenyOptions) => {
      const { reason } = options;
      done(await answerApproval(id, { answer: 'denied', ...(reason === undefined ? {} : { reason }) }, options));
    });
}
