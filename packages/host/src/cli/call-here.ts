/** One tool call in this process. All that it needs is loaded with this file, which no call that a host makes loads. */
import type { ToolResponse } from '@tool-runtime/protocol';
import { z } from 'zod';
import { type ShownAnswer, showAnswer } from '../sessions/show-answer.ts';
import { typeWords } from '../sessions/typed-words.ts';
import { type CallArgs, misread } from './call-args.ts';
import type { CallOrder } from './make-call.ts';
import { withRuntime } from './open-runtime.ts';
import { showProgress } from './progress-line.ts';

export async function callHere(
  { tool, args, options, isForPeople, signal }: CallOrder,
  print: (response: ToolResponse, shown: ShownAnswer | undefined) => number,
): Promise<number> {
  // Each schema is used once or twice here, so compiling a function for it would take longer than it saves.
  z.config({ jitless: true });
  return withRuntime(options, async (runtime) => {
    const session = await runtime.openSession({ client: 'tool-runtime call' });
    const given = finishArgs(args, session.tools(tool)[0]?.argsSchema);
    const endProgress = showProgress(session, process.stderr);
    const response = await session
      .call(tool, given, {
        signal,
        ...(options.key === undefined ? {} : { idempotencyKey: options.key }),
        ...(options.timeout === undefined ? {} : { timeoutMs: options.timeout }),
      })
      .finally(endProgress);
    return print(response, isForPeople ? showAnswer(session, { tool, args: given }, response) : undefined);
  });
}

function finishArgs(args: CallArgs, schema: object | undefined): object {
  if ('args' in args) return args.args;
  const typed = typeWords(args.words, schema);
  if ('args' in typed) return typed.args;
  throw misread(typed.problem);
}
