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

export interface CallOrder {
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
  if (hosted === undefined) {
    const { callHere } = await import('./call-here.ts');
    return callHere(order, (response, shown) => printAnswer(response, shown, order));
  }
  for (const warning of hosted.warnings) showRuntimeWarning(warning);
  return printAnswer(hosted.response, hosted.shown, order);
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
