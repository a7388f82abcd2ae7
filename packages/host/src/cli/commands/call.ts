/** tool-runtime call: one tool call, its ToolResponse on stdout. */

import { showRuntimeWarning } from '../../terminal/runtime-warning.ts';
import { printJson } from '../../terminal/terminal.ts';
import type { CallArgs } from '../call-args.ts';
import { defineCommand, type SharedOptions, withRuntimeOptions } from '../command.ts';
import { withInterrupt } from '../interrupt.ts';
import { wholeNumber } from '../whole-number.ts';

interface CallOptions extends SharedOptions {
  readonly key?: string;
  readonly timeout?: number;
  readonly verbose?: boolean;
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
      .option('--verbose', 'say on stderr who made the call: a running host, or this process')
      .action(async (tool: string, words: string[], options: CallOptions) => {
        const { parseCallArgs } = await import('../call-args.ts');
        const args = await parseCallArgs(words);
        done(await withInterrupt((signal) => runCall({ tool, args, options, signal })));
      });
  },
});

interface CallOrder {
  readonly tool: string;
  readonly args: CallArgs;
  readonly options: CallOptions;
  readonly signal: AbortSignal;
}

/** By the host of this state folder when that gives the same answer, else in this process. */
async function runCall(order: CallOrder): Promise<number> {
  const { tool, args, options, signal } = order;
  const { callThroughHost } = await import('../call-through-host.ts');
  const { key, timeout } = options;
  const limits = {
    ...(key === undefined ? {} : { idempotency_key: key }),
    ...(timeout === undefined ? {} : { timeout_ms: timeout }),
  };
  const hosted = await callThroughHost({ tool, ...args, ...limits }, options, signal);
  if (options.verbose === true) {
    const who = hosted === undefined ? 'in this process' : `by the running host, process ${hosted.pid}`;
    process.stderr.write(`call made ${who}\n`);
  }
  if (hosted === undefined) return callHere(order);
  for (const warning of hosted.warnings) showRuntimeWarning(warning);
  printJson(hosted.response, { compact: options.json === true });
  return hosted.response.ok ? 0 : 1;
}

async function callHere({ tool, args, options, signal }: CallOrder): Promise<number> {
  const { withRuntime } = await import('../open-runtime.ts');
  const { showProgress } = await import('../progress-line.ts');
  const { typePairs } = await import('../../sessions/typed-pairs.ts');
  return withRuntime(options, async (runtime) => {
    const session = await runtime.openSession({ client: 'tool-runtime call' });
    const given = 'args' in args ? args.args : typePairs(args.pairs, session.tools(tool)[0]?.argsSchema);
    const endProgress = showProgress(session, process.stderr);
    const response = await session
      .call(tool, given, {
        signal,
        ...(options.key === undefined ? {} : { idempotencyKey: options.key }),
        ...(options.timeout === undefined ? {} : { timeoutMs: options.timeout }),
      })
      .finally(endProgress);
    printJson(response, { compact: options.json === true });
    return response.ok ? 0 : 1;
  });
}
