/** tool-runtime call: one tool call. People read its text, programs its ToolResponse. */
import { styleText } from 'node:util';
import type { ToolResponse } from '@tool-runtime/protocol';
import { safeLines } from '@tool-runtime/protocol/internal';
import type { PresentedCall, Session } from '@tool-runtime/sdk';
import { printJson, printLine } from '../../terminal/terminal.ts';
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
  summary: 'Call one tool: its answer as text on a terminal, else its ToolResponse (exit 0 when ok, 1 when not)',
  configure(command, done) {
    withRuntimeOptions(command)
      .argument('<tool>', 'wire name, such as file_read')
      .argument('[args...]', 'a JSON object, key=value pairs, --key value, @file, or - for stdin')
      .allowUnknownOption()
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
    if (process.stdout.isTTY && options.json !== true) printAnswer(session, { tool, args }, response);
    else printJson(response, { compact: options.json === true });
    return response.ok ? 0 : 1;
  });
}

/** What a model reads, for people: warnings and errors on stderr, and no control character reaches the terminal. */
function printAnswer(session: Session, call: PresentedCall, response: ToolResponse): void {
  for (const warning of response.warnings) {
    const { text } = session.present(call, { ...response, ok: false, errors: [warning], warnings: [] });
    process.stderr.write(`${styleText('yellow', 'warning', { stream: process.stderr })} ${safeLines(text)}\n`);
  }
  const { text } = session.present(call, { ...response, warnings: [] });
  if (response.ok) printLine(safeLines(text));
  else process.stderr.write(`${styleText('red', 'error', { stream: process.stderr })} ${safeLines(text)}\n`);
}
