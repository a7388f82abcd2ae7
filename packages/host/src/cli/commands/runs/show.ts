/** runs show: the result of one run, or the bytes of one of its outputs. */
import type { RunLocation } from '@tool-runtime/sdk/parts';
import type { Command } from 'commander';
import { printJson, showError } from '../../../terminal/terminal.ts';
import { type Done, type SharedOptions, withSharedOptions } from '../../command.ts';
import { createPieceWriter } from '../../write-pieces.ts';
import { findRun } from './find-run.ts';

interface ShowOptions extends SharedOptions {
  readonly output?: string;
}

export function addShow(command: Command, done: Done): void {
  withSharedOptions(command.command('show').description('The result of one run, or one of its outputs'))
    .argument('<run>', 'its id, or tool/id')
    .option('--output <path>', 'the bytes of this output; only when they are still those of the run')
    .action(async (name: string, options: ShowOptions) => {
      const run = await findRun(name, options);
      done(run !== undefined && (await show(run, options)) ? 0 : 1);
    });
}

async function show(run: RunLocation, options: ShowOptions): Promise<boolean> {
  const [{ showRun, showRunOutput }, { isToolError }] = await Promise.all([
    import('@tool-runtime/sdk/parts'),
    import('@tool-runtime/protocol'),
  ]);
  try {
    if (options.output === undefined) printJson(showRun(run), { compact: options.json === true });
    else {
      const writer = createPieceWriter(process.stdout);
      await showRunOutput(run, options.output, writer.write);
      await writer.end();
    }
    return true;
  } catch (thrown) {
    if (!isToolError(thrown)) throw thrown;
    const { next } = thrown.details;
    showError(`${thrown.code} ${thrown.message}`, typeof next === 'string' ? next : undefined);
    return false;
  }
}
