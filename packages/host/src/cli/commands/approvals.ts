/** tool-runtime approvals: look at the questions that wait on the running host, and answer them. */
import type { AnswerApprovalBody } from '@tool-runtime/protocol';
import type { Command } from 'commander';
import { badUsage } from '../../terminal/bad-usage.ts';
import { printJson, printLine, showError } from '../../terminal/terminal.ts';
import { type Done, defineCommand, type SharedOptions, withSharedOptions } from '../command.ts';

export const approvals = defineCommand({
  name: 'approvals',
  summary: 'List and answer approval questions of the running host',
  configure(command, done) {
    for (const add of [addList, addWatch, addAllow, addDeny]) add(command, done);
  },
});

/** approvals list: who wants to do what, and why it needs a yes. */
function addList(command: Command, done: Done): void {
  withSharedOptions(
    command.command('list', { isDefault: true }).description('List questions that wait for an answer'),
  ).action(async (options: SharedOptions) => {
    const { describeQuestion, openDesk } = await import('./approvals/desk.ts');
    const questions = await (await openDesk(options)).list();
    for (const question of questions) {
      if (options.json === true) printJson(question, { compact: true });
      else for (const line of describeQuestion(question, questions)) printLine(line);
    }
    if (questions.length === 0 && options.json !== true) printLine('no questions are waiting');
    done(0);
  });
}

/** approvals watch: every question as it comes, one key for an answer. */
function addWatch(command: Command, done: Done): void {
  withSharedOptions(command.command('watch').description('Answer questions as they come, with one key each')).action(
    async (options: SharedOptions) => {
      if (!process.stdin.isTTY) {
        throw badUsage('approvals watch needs a terminal', 'use approvals list, allow and deny in scripts');
      }
      const { openDesk } = await import('./approvals/desk.ts');
      const { watchQuestions } = await import('./approvals/watch.ts');
      await watchQuestions(await openDesk(options), { input: process.stdin });
      done(0);
    },
  );
}

/** The exit code: an answer that came too late is no mistake of the command line. */
async function answerApproval(given: string, body: AnswerApprovalBody, options: SharedOptions): Promise<0 | 1> {
  const { isToolError } = await import('@tool-runtime/protocol');
  const { fullId, openDesk } = await import('./approvals/desk.ts');
  const desk = await openDesk(options);
  try {
    const id = fullId(given, await desk.list());
    if (id === 'ambiguous') {
      showError(`Several questions begin with ${given}`, 'give more letters of the id; approvals list shows them');
      return 1;
    }
    const answered = await desk.answer(id, body);
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
    .argument('<id>', 'approval id, or its beginning')
    .option('--session', 'also allow what the question says of the session')
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
    .argument('<id>', 'approval id, or its beginning')
    .option('--reason <text>', 'reason to give to the caller')
    .action(async (id: string, options: DenyOptions) => {
      const { reason } = options;
      done(await answerApproval(id, { answer: 'denied', ...(reason === undefined ? {} : { reason }) }, options));
    });
}
