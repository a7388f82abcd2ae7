/** tool-runtime call: one tool call. People read its text, programs its ToolResponse. */
import { styleText } from 'node:util';
import type { ToolResponse } from '@tool-runtime/protocol';
import type { ShownAnswer } from '../../sessions/show-answer.ts';
import { printJson, printLine, showRuntimeWarning } from '../../terminal/terminal.ts';
import type { CallArgs } from '../call-args.ts';
import { defineCommand, type SharedOptions, withRuntimeOptions } from '../command.ts';
import { withInterrupt } from '../interrupt.ts';
import { wholeNumber } from '../option-values.ts';

interface CallOptions extends SharedOptions {
  readonly key?: string;
  readonly timeout?: number;
  readonly verbose?: boolean;
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
      .option('--verbose', 'say on stderr who made the call: a running host, or this process')
      .action(async (tool: string, words: string[], options: CallOptions) => {
        const { parseCallArgs } = await import('../call-args.ts');
        const args = await parseCallArgs(words);
        const isForPeople = process.stdout.isTTY && options.json !== true;
        done(await withInterrupt((signal) => runCall({ tool, args, options, isForPeople, signal })));
      });
  },
});

interface CallOrder {
  readonly tool: string;
  readonly args: CallArgs;
  readonly options: CallOptions;
  readonly isForPeople: boolean;
  readonly signal: AbortSignal;
}

/** By the host of this state folder when that gives the same answer, else in this process. */
async function runCall(order: CallOrder): Promise<number> {
  const { tool, args, options, isForPeople, signal } = order;
  const { callThroughHost } = await import('../call-through-host.ts');
  const { key, timeout } = options;
  const limits = {
    ...(key === undefined ? {} : { idempotency_key: key }),
    ...(timeout === undefined ? {} : { timeout_ms: timeout }),
  };
  const hosted = await callThroughHost({ tool, ...args, ...limits, is_shown: isForPeople }, options, signal);
  if (options.verbose === true) {
    const who = hosted === undefined ? 'in this process' : `by the running host, process ${hosted.pid}`;
    process.stderr.write(`call made ${who}\n`);
  }
  if (hosted === undefined) return callHere(order);
  for (const warning of hosted.warnings) showRuntimeWarning(warning);
  return printAnswer(hosted.response, hosted.shown, options);
}

async function callHere({ tool, args, options, isForPeople, signal }: CallOrder): Promise<number> {
  const { withRuntime } = await import('../open-runtime.ts');
  const { showProgress } = await import('../progress-line.ts');
  const { showAnswer } = await import('../../sessions/show-answer.ts');
  return withRuntime(options, async (runtime) => {
    const session = await runtime.openSession({ client: 'tool-runtime call' });
    const given = await finishArgs(args, session.tools(tool)[0]?.argsSchema);
    const endProgress = showProgress(session, process.stderr);
    const response = await session
      .call(tool, given, {
        signal,
        ...(options.key === undefined ? {} : { idempotencyKey: options.key }),
        ...(options.timeout === undefined ? {} : { timeoutMs: options.timeout }),
      })
      .finally(endProgress);
    const shown = isForPeople ? showAnswer(session, { tool, args: given }, response) : undefined;
    return printAnswer(response, shown, options);
  });
}

async function finishArgs(args: CallArgs, schema: object | undefined): Promise<object> {
  if ('args' in args) return args.args;
  const { typeWords } = await import('../../sessions/typed-words.ts');
  const typed = typeWords(args.words, schema);
  if ('args' in typed) return typed.args;
  const { misread } = await import('../call-args.ts');
  throw misread(typed.problem);
}

/** Warnings and errors for people go to stderr. */
function printAnswer(response: ToolResponse, shown: ShownAnswer | undefined, options: CallOptions): number {
  if (shown === undefined) {
    printJson(response, { compact: options.json === true });
    return response.ok ? 0 : 1;
  }
  const report = (colour: 'red' | 'yellow', title: string, text: string): void =>
    void process.stderr.write(`${styleText(colour, title, { stream: process.stderr })} ${text}\n`);
  for (const warning of shown.warnings) report('yellow', 'warning', warning);
  if (response.ok) printLine(shown.text);
  else report('red', 'error', shown.text);
  return response.ok ? 0 : 1;
}
