/** tool-runtime call: one tool call, its ToolResponse on stdout. */

import { printJson } from '../../terminal/terminal.ts';
import type { ArgsReader } from '../call-args.ts';
import { defineCommand, type SharedOptions, withRuntimeOptions } from '../command.ts';
import { withInterrupt } from '../interrupt.ts';
import { withRuntime } from '../open-runtime.ts';
import { wholeNumber } from '../whole-number.ts';

interface CallOptions extends SharedOptions {
  readonly key?: string;
  readonly timeout?: number;
}

export const call = defineCommand({
  name: 'call',
  summary: 'Call one tool and print its ToolResponse (exit 0 when ok, 1 when not)',
  configure(command, done) {
    withRuntimeOptions(command)
      .argument('<tool>', 'wire name, such as file_read')
      .argument('[args...]', 'a JSON object, key=value pairs, @file, or - for stdin')
      .option('--key <key>', 'idempotency key: repeating the call repeats the answer, not the effect')
      .option('--timeout <ms>', 'lower the time limit of the tool', wholeNumber('--timeout', 1))
      .action(async (tool: string, words: string[], options: CallOptions) => {
        const { parseCallArgs } = await import('../call-args.ts');
        const readArgs = await parseCallArgs(words);
        done(await withInterrupt((signal) => runCall({ tool, readArgs, options, signal })));
      });
  },
});

interface CallOrder {
  readonly tool: string;
  readonly readArgs: ArgsReader;
  readonly options: CallOptions;
  readonly signal: AbortSignal;
}

async function runCall({ tool, readArgs, options, signal }: CallOrder): Promise<number> {
  const { showProgress } = await import('../progress-line.ts');
  return withRuntime(options, async (runtime) => {
    const session = await runtime.openSession({ client: 'tool-runtime call' });
    const args = readArgs(() => session.tools(tool)[0]?.argsSchema);
    const endProgress = showProgress(session, process.stderr);
    const response = await session
      .call(tool, args, {
        signal,
        ...(options.key === undefined ? {} : { idempotencyKey: options.key }),
        ...(options.timeout === undefined ? {} : { timeoutMs: options.timeout }),
      })
      .finally(endProgress);
    printJson(response, { compact: options.json === true });
    return response.ok ? 0 : 1;
  });
}
