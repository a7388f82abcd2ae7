/** runs list: the newest runs, newest first; damaged ones among them. */
import type { RunSummary } from '@tool-runtime/sdk/parts';
import type { Command } from 'commander';
import { plainText } from '../../../terminal/plain-text.ts';
import { paint, printJson, printLine } from '../../../terminal/terminal.ts';
import { type Done, type SharedOptions, withSharedOptions } from '../../command.ts';
import { wholeNumber } from '../../whole-number.ts';
import { describeOutputs } from '../run/describe-outputs.ts';

interface ListOptions extends SharedOptions {
  readonly limit: number;
  readonly failed?: boolean;
}

const STATUS_COLOURS = {
  success: 'green',
  partial: 'yellow',
  failure: 'red',
  damaged: 'red',
  unfinished: 'dim',
} as const;

export function addList(command: Command, done: Done): void {
  withSharedOptions(command.command('list').description('The newest runs, newest first'))
    .argument('[tool]', 'only runs of this tool')
    .option('-n, --limit <count>', 'how many', wholeNumber('--limit', 1), 50)
    .option('--failed', 'only those that did not end well, the damaged among them')
    .action(async (tool: string | undefined, options: ListOptions) => {
      const [{ listRuns }, { stateOf }] = await Promise.all([
        import('@tool-runtime/sdk/parts'),
        import('../../state-of.ts'),
      ]);
      let count = 0;
      for (const run of listRuns(stateOf(options), { tool, failed: options.failed === true })) {
        if (count === options.limit) break;
        count += 1;
        if (options.json === true) printJson(run, { compact: true });
        else printLine(describe(run));
      }
      if (count === 0 && options.json !== true) printLine('no runs');
      done(0);
    });
}

function describe(run: RunSummary): string {
  const { run_id, tool, status, exit_code, tool_exit_code, duration_ms, outputs = [], problem } = run;
  const place = `${run_id}  ${plainText(tool)}  ${paint(STATUS_COLOURS[status], status)}`;
  if (exit_code === undefined) return problem === undefined ? place : `${place}  ${plainText(problem)}`;
  const ended = tool_exit_code === null ? `exit ${exit_code} (did not run)` : `exit ${exit_code}`;
  return [place, ended, `${duration_ms} ms`, describeOutputs(outputs)].join('  ');
}
