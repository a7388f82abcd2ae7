/** How a stage or a call ended. Whatever a stage throws becomes a value with one of the ten codes. */
import { type JsonValue, type ToolError, toToolError } from '@tool-runtime/protocol';
import { isCancellation } from '../../contracts/failures.ts';
import type { MaybePromise } from '../../contracts/workspace.ts';
import { untoldFileError } from '../../platform/descriptors/file-errors.ts';
import type { Call, OpenCall, Outcome } from './call-types.ts';
import type { RecordingParts, WatchingParts } from './session-parts.ts';

export type Settled<T> = { readonly ok: true; readonly value: T } | { readonly ok: false; readonly error: ToolError };

/** At once where the stage ends at once: most stages of most calls have nothing to wait for. */
export function settle<T>(stage: () => MaybePromise<T>): MaybePromise<Settled<T>> {
  try {
    const value = stage();
    return value instanceof Promise ? value.then(succeeded, failed) : succeeded(value);
  } catch (thrown) {
    return failed(thrown);
  }
}

/** Goes on at once where there is nothing to wait for. */
export function andThen<T, U>(value: MaybePromise<T>, next: (value: T) => MaybePromise<U>): MaybePromise<U> {
  return value instanceof Promise ? value.then(next) : next(value);
}

function succeeded<T>(value: T): Settled<T> {
  return { ok: true, value };
}

function failed(thrown: unknown): Settled<never> {
  return { ok: false, error: errorOf(thrown) };
}

/** A file system that refuses is not a failure of the runtime, wherever it was met. */
export function errorOf(thrown: unknown): ToolError {
  return untoldFileError(thrown) ?? toToolError(thrown);
}

/** Reports failures of the runtime itself to the operator. A cancelled call is not one, whatever stopped along with it. */
export function reportFault(error: ToolError, parts: Pick<WatchingParts, 'reportUnexpected'>): void {
  if (error.code !== 'E_INTERNAL' || error.cause === undefined || isCancellation(error)) return;
  parts.reportUnexpected(error);
}

/** How long the call took so far, and how long it waited for a person. */
export function timesOf(
  { progress: { waitedMs }, startedTick }: OpenCall,
  { clock }: RecordingParts,
): Pick<Outcome, 'durationMs' | 'waitedMs'> {
  return { durationMs: Math.max(0, clock.monotonic() - startedTick - waitedMs), waitedMs };
}

/** The data of an answer as callers get it and records keep it: known secrets are masked and counted, of any tool. */
export function shownData({ open }: Pick<Call, 'open'>, data: JsonValue, { redactor }: RecordingParts): JsonValue {
  return redactor.known.json(data, open.masks);
}

export function isOk(outcome: Outcome): boolean {
  return outcome.status === 'completed' && outcome.errors.length === 0;
}
