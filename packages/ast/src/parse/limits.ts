/** What one file may cost. Beyond them a file is refused with a reason, never indexed in part. */
import { isToolError, ToolError } from '@tool-runtime/protocol';

export interface ParseLimits {
  readonly maxFileBytes: number;
  readonly maxParseMs: number;
  readonly maxSymbols: number;
}

export const PARSE_LIMITS: ParseLimits = {
  maxFileBytes: 4 * 1024 * 1024,
  maxParseMs: 5_000,
  maxSymbols: 200_000,
};

export interface TimeLimitOptions {
  /** For messages only. */
  readonly path?: string;
  readonly signal?: AbortSignal;
  readonly maxParseMs?: number;
}

export interface TimeLimit {
  isOver(): boolean;
  /** Throws E_TIMEOUT with `reason` `parse_timeout`; the signal's reason when that is a ToolError; else E_INTERNAL. */
  refuse(): never;
}

/** How long work on one file may take, and whether it is still wanted. Asked often, so it only compares numbers. */
export function startTimeLimit(options: TimeLimitOptions): TimeLimit {
  const { signal, path = '' } = options;
  const deadline = performance.now() + (options.maxParseMs ?? PARSE_LIMITS.maxParseMs);
  return {
    isOver: () => signal?.aborted === true || performance.now() > deadline,
    refuse() {
      if (signal?.aborted === true) throw cancelled(signal.reason);
      throw new ToolError('E_TIMEOUT', `File took too long to parse: ${path}`, {
        path,
        details: { reason: 'parse_timeout' },
      });
    },
  };
}

function cancelled(reason: unknown): ToolError {
  if (isToolError(reason)) return reason;
  return new ToolError('E_INTERNAL', 'Parsing was cancelled', {
    details: { kind: 'cancellation', retry: 'retryable', reason: 'cancelled' },
    cause: reason,
  });
}
