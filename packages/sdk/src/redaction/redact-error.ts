/** Errors as others may see them. */
import { type ErrorEntry, type JsonObject, type JsonValue, ToolError } from '@tool-runtime/protocol';
import type { MaskCount } from '../contracts/redaction.ts';
import { mapTexts } from './known-values.ts';
import type { Redactor } from './redactor.ts';

/** For the answer: known secrets are masked. Details hold what programs printed, which no guess may change. */
export function maskEntry(entry: ErrorEntry, { known }: Redactor, count?: MaskCount): ErrorEntry {
  const { message, path, details } = entry;
  return {
    ...entry,
    message: known.text(message, count),
    ...(path === undefined ? {} : { path: known.text(path, count) }),
    ...(details === undefined ? {} : { details: known.json(details, count) }),
  };
}

/** The same error when there is nothing to mask. */
export function maskError(error: ToolError, redactor: Redactor, count?: MaskCount): ToolError {
  const { message, path, details = {} } = maskEntry(error.toEntry(), redactor, count);
  if (message === error.message && path === error.path && details === error.details) return error;
  return new ToolError(error.code, message, { ...(path === undefined ? {} : { path }), details, cause: error.cause });
}

/** For records and logs: message, path and details of an error or a warning. */
export function redactEntry(entry: ErrorEntry, redactor: Redactor): ErrorEntry {
  const { message, path, details } = entry;
  return {
    ...entry,
    message: redactor.redactText(message),
    ...(path === undefined ? {} : { path: redactor.known.text(path) }),
    ...(details === undefined ? {} : { details: redactDetails(details, redactor) }),
  };
}

function redactDetails(details: JsonObject, { redactText }: Redactor): JsonObject {
  return mapTexts(details as JsonValue, redactText) as JsonObject;
}

/** The same error when there is nothing to take out. */
export function redactError(error: ToolError, redactor: Redactor): ToolError {
  const entry = error.toEntry();
  const { message, path, details } = redactEntry(entry, redactor);
  const cause = redactCause(error.cause, redactor);
  const isSame = message === entry.message && path === entry.path && details === entry.details && cause === error.cause;
  if (isSame) return error;
  return new ToolError(error.code, message, {
    ...(path === undefined ? {} : { path }),
    ...(details === undefined ? {} : { details }),
    ...(cause === undefined ? {} : { cause }),
  });
}

/** A cause can be any thrown value: reading it may throw as well, and then it is left out. */
function redactCause(cause: unknown, redactor: Redactor): unknown {
  try {
    return cause instanceof Error ? redactedCopy(cause, redactor) : redactedText(cause, redactor);
  } catch {
    return undefined;
  }
}

function redactedText(cause: unknown, { redactText }: Redactor): unknown {
  return typeof cause === 'string' ? redactText(cause) : cause;
}

function redactedCopy(cause: Error, redactor: Redactor): Error {
  const [message, stack] = [redactor.redactText(cause.message), redactor.redactText(cause.stack ?? '')];
  if (message === cause.message && stack === (cause.stack ?? '')) return cause;
  // Class, name and code stay the same.
  return Object.create(cause, {
    message: { value: message },
    stack: { value: stack },
    cause: { value: redactCause(cause.cause, redactor) },
  });
}
