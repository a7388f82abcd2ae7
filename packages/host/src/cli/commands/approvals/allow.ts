/** approvals allow: yes, once or for the session; with other arguments they are judged again. */
import type { Command } from 'commander';
import { badUsage } from '../../../terminal/bad-usage.ts';
import { type Done, type SharedOptions, withSharedOptions } from '../../command.ts';
import { answerApproval } from './answer.ts';

interface AllowOptions extends SharedOptions {
  readonly session?: boolean;
  readonly args?: string;
}

export function addAllow(command: Command, done: Done): void {
  withSharedOptions(command.command('allow').description('Say yes'))
    .argument('<id>', 'approval id')
    .option('--session', 'also to further calls like it in the same session')
    .option('--args <json>', 'arguments to use instead; they are judged from the start')
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
  throw badUsage('--args wants a JSON object');
}
