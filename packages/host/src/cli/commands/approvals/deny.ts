/** approvals deny: no, with a reason the caller reads. */
import type { Command } from 'commander';
import { type Done, type SharedOptions, withSharedOptions } from '../../command.ts';
import { answerApproval } from './answer.ts';

interface DenyOptions extends SharedOptions {
  readonly reason?: string;
}

export function addDeny(command: Command, done: Done): void {
  withSharedOptions(command.command('deny').description('Say no'))
    .argument('<id>', 'approval id')
    .option('--reason <text>', 'what the caller is told')
    .action(async (id: string, options: DenyOptions) => {
      const { reason } = options;
      done(await answerApproval(id, { answer: 'denied', ...(reason === undefined ? {} : { reason }) }, options));
    });
}
