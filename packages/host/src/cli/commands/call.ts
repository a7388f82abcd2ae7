/** tool-runtime call: one tool call. People read its text, programs its ToolResponse. */
import { defineCommand, withRuntimeOptions } from '../command.ts';
import { withInterrupt } from '../interrupt.ts';
import { type CallOptions, runCall } from '../make-call.ts';
import { wholeNumber } from '../option-values.ts';

export const call = defineCommand({
  name: 'call',
  summary: 'Call one tool: its answer as text on a terminal, else its ToolResponse (exit 0 when ok, 1 when not)',
  configure(command, done) {
    withRuntimeOptions(command)
      .argument('<tool>', 'wire name, such as file_read')
      .argument('[args...]', 'a JSON object, key=value pairs, --key value, @file, or - for stdin')
      .allowUnknownOption()
      .option('--key <key>', 'idempotency key: repeating the call repeats the answer, not the effect')
      .option('--timeout <ms>', 'lower the time limit of the tool', wholeNumber('--timeout', 1))
      .option('--verbose', 'say on stderr who made the call: a running host, or this process')
      .action(async (tool: string, words: string[], options: CallOptions) => {
        const { parseCallArgs } = await import('../call-args.ts');
        const args = await parseCallArgs(words);
        const isForPeople = process.stdout.isTTY && options.json !== true;
        done(await withInterrupt((signal) => runCall({ tool, args, options, isForPeople, signal })));
      });
  },
});
