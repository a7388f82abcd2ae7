/**
 * Repeats a call that may have failed on the way. Only for calls with an idempotency key: the host then answers from
 * its record instead of doing the work twice.
 */
import type { BatchResponse } from '../envelopes/from-host/batch-response.ts';
import type { ErrorMessage } from '../envelopes/from-host/error-message.ts';
import type { ToolResponse } from '../envelopes/from-host/tool-response.ts';
import { isToolError, type ToolError } from '../primitives/errors.ts';
import { Backoff, pause } from './backoff.ts';
import { cancelledBeforeSending, reasonOf } from './error-messages.ts';

export interface RetryOptions {
  /** How often the call is sent at most, the first time included. */
  readonly attempts: number;
}

const ON_THE_WAY: ReadonlySet<string | undefined> = new Set([
  'send_failed',
  'connection_closed',
  'no_answer',
  'bad_answer',
]);

/** `isOver`: the connection is gone for good, so that another attempt would only fail faster. */
export async function retryCall(
  attempts: number,
  callOnce: () => Promise<ToolResponse>,
  { signal, isOver }: { readonly signal: AbortSignal | undefined; isOver(): boolean },
): Promise<ToolResponse> {
  const backoff = new Backoff();
  for (let attempt = 1; ; attempt += 1) {
    const isLast = (): boolean => attempt >= attempts || isOver();
    let waitMs = backoff.next();
    try {
      const response = await callOnce();
      // Said of a repetition: the first copy is still at work.
      if (attempt === 1 || isLast() || !isKeyInUse(response)) return response;
    } catch (thrown) {
      if (!isToolError(thrown) || isLast() || !isRetryable(thrown)) throw thrown;
      waitMs = Math.max(waitMs, retryAfterOf(thrown) ?? 0);
    }
    await pause(waitMs, signal);
    if (signal?.aborted) throw cancelledBeforeSending();
  }
}

function isRetryable(error: ToolError): boolean {
  return retryAfterOf(error) !== undefined || ON_THE_WAY.has(reasonOf(error.details));
}

function retryAfterOf({ details }: ToolError): number | undefined {
  const wait = details['retry_after_ms'];
  return typeof wait === 'number' ? wait : undefined;
}

/** Whether another call with the same idempotency key is running or was faster: ask again later. */
export function isKeyInUse(answer: ToolResponse | BatchResponse | ErrorMessage): boolean {
  if (answer.type === 'BatchResponse') return false;
  const details = answer.type === 'ErrorMessage' ? answer.details : answer.errors[0]?.details;
  if (details?.['gate'] !== 'idempotency') return false;
  return details['reason'] === 'outcome_unknown' || details['reason'] === 'key_taken';
}
