/**
 * One question to the coordinator: bounded in time, ended by a cancel, its answer read strictly.
 *
 * Whatever the coordinator does wrong is a value. Only the caller's own cancellation is thrown, because then there is
 * nothing left to decide.
 */
import type { z } from 'zod';
import { failure } from '../contracts/failures.ts';
import type { MaybePromise } from '../contracts/workspace.ts';

export type Silence = 'threw' | 'timed_out' | 'malformed';

export type Heard<Verdict> =
  | { readonly type: 'verdict'; readonly verdict: Verdict }
  | { readonly type: Silence; readonly cause: unknown };

export interface Question<Verdict> {
  ask(signal: AbortSignal): MaybePromise<unknown>;
  readonly schema: z.ZodType<Verdict>;
  readonly timeoutMs: number;
  readonly signal: AbortSignal;
}

/** Throws the reason of the signal when it fires first. An answer that is there at once needs no timer. */
export async function askInTime<Verdict>(question: Question<Verdict>): Promise<Heard<Verdict>> {
  const { signal, schema } = question;
  if (signal.aborted) throw signal.reason;
  const stop = new AbortController();
  try {
    const answer = question.ask(stop.signal);
    return isPending(answer) ? await awaitInTime(hear(answer, schema), question, stop) : read(answer, schema);
  } catch (thrown) {
    if (signal.aborted) throw signal.reason;
    // Stops here because it is an answer: a coordinator that breaks has said nothing.
    return { type: 'threw', cause: thrown };
  }
}

function isPending(answer: MaybePromise<unknown>): answer is Promise<unknown> {
  return typeof answer === 'object' && answer !== null && 'then' in answer;
}

function read<Verdict>(answer: unknown, schema: z.ZodType<Verdict>): Heard<Verdict> {
  const parsed = schema.safeParse(answer);
  return parsed.success ? { type: 'verdict', verdict: parsed.data } : { type: 'malformed', cause: parsed.error };
}

async function hear<Verdict>(answer: Promise<unknown>, schema: z.ZodType<Verdict>): Promise<Heard<Verdict>> {
  return read(await answer, schema);
}

async function awaitInTime<Verdict>(
  heard: Promise<Heard<Verdict>>,
  { timeoutMs, signal }: Question<Verdict>,
  stop: AbortController,
): Promise<Heard<Verdict>> {
  const { promise: interrupted, resolve, reject } = Promise.withResolvers<Heard<Verdict>>();
  // Settled before the coordinator hears of the end, so that nothing it does then can win the race.
  const onCancel = (): void => {
    reject(signal.reason);
    stop.abort(signal.reason);
  };
  const onTimeout = (): void => {
    const late = failure('timeout', 'retryable', `Coordinator did not answer within ${timeoutMs} ms`);
    resolve({ type: 'timed_out', cause: late });
    stop.abort(late);
  };
  // Cancelled by the very question: the event was before the listener.
  if (signal.aborted) onCancel();
  const timer = setTimeout(onTimeout, timeoutMs);
  signal.addEventListener('abort', onCancel, { once: true });
  try {
    return await Promise.race([interrupted, heard]);
  } finally {
    clearTimeout(timer);
    signal.removeEventListener('abort', onCancel);
  }
}
