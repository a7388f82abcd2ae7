/** One tool call for a command, and its answer: text for people, the ToolResponse for programs. */
import { styleText } from 'node:util';
import type { ToolResponse } from '@tool-runtime/protocol';
import type { ShownAnswer } from '../sessions/show-answer.ts';
import { printJson, printLine, showRuntimeWarning } from '../terminal/terminal.ts';
import type { CallArgs } from './call-args.ts';
import type { SharedOptions } from './command.ts';

export interface CallOptions extends SharedOptions {
  readonly key?: string;
  readonly timeout?: number;
  readonly verbose?: boolean;
}

interface CallOrder {
  readonly tool: string;
  readonly args: CallArgs;
  readonly options: CallOptions;
  readonly isForPeople: boolean;
  readonly signal: AbortSignal;
  /** How its text is shown to people; default: as it is. */
  readonly paint?: (text: string) => string;
}

/** By the host of this state folder when that gives the same answer, else in this process. */
export async function runCall(order: CallOrder): Promise<number> {
  const { tool, args, options, isForPeople, signal } = order;
  const { callThroughHost } = await import('./call-through-host.ts');
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
  return printAnswer(hosted.response, hosted.shown, order);
}

async function callHere({ tool, args, options, isForPeople, signal, paint }: CallOrder): Promise<number> {
  const { withRuntime } = await import('./open-runtime.ts');
  const { showProgress } = await import('./progress-line.ts');
  const { showAnswer } = await import('../sessions/show-answer.ts');
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
    return printAnswer(response, shown, { options, ...(paint === undefined ? {} : { paint }) });
  });
}

async function finishArgs(args: CallArgs, schema: object | undefined): Promise<object> {
  if ('args' in args) return args.args;
  const { typeWords } = await import('../sessions/typed-words.ts');
  const typed = typeWords(args.words, schema);
  if ('args' in typed) return typed.args;
  const { misread } = await import('./call-args.ts');
  throw misread(typed.problem);
}

/** Warnings and errors for people go to stderr. */
function printAnswer(
  response: ToolResponse,
  shown: ShownAnswer | undefined,
  { options, paint = (text) => text }: Pick<CallOrder, 'options' | 'paint'>,
): number {
  if (shown === undefined) {
    printJson(response, { compact: options.json === true });
    return response.ok ? 0 : 1;
  }
  const report = (colour: 'red' | 'yellow', title: string, text: string): void =>
    void process.stderr.write(`${styleText(colour, title, { stream: process.stderr })} ${text}\n`);
  for (const warning of shown.warnings) report('yellow', 'warning', warning);
  if (response.ok) printLine(paint(shown.text));
  else report('red', 'error', shown.text);
  return response.ok ? 0 : 1;
}
