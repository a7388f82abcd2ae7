/**
 * The only error that crosses the wire, and the closed list of its codes.
 *
 * Callers switch on `code`. Recognise with `isToolError`, never `instanceof`:
 * two installed copies of this package in one process are normal.
 */
import { safeLines } from './safe-text.ts';

interface ErrorClass {
  readonly kind: string;
  readonly retry: string;
}

const CLASSES: Readonly<Record<ErrorCode, ErrorClass>> = {
  E_FILE_IO: { kind: 'tool_failure', retry: 'not_retryable' },
  E_AST_PARSE: { kind: 'tool_failure', retry: 'not_retryable' },
  E_AST_EDIT: { kind: 'tool_failure', retry: 'not_retryable' },
  E_VALIDATION_FAIL: { kind: 'tool_failure', retry: 'not_retryable' },
  E_GIT: { kind: 'tool_failure', retry: 'not_retryable' },
  E_HTTP: { kind: 'tool_failure', retry: 'retryable' },
  E_SHELL: { kind: 'tool_failure', retry: 'not_retryable' },
  E_POLICY: { kind: 'policy_denial', retry: 'not_retryable' },
  E_TIMEOUT: { kind: 'timeout', retry: 'retryable' },
  E_INTERNAL: { kind: 'tool_failure', retry: 'repair_needed' },
};
const CANCELLED: ErrorClass = { kind: 'cancellation', retry: 'retryable' };

/**
 * `kind` and `retry` of an error: what went wrong, and what can be done about it. Every error on the wire has both.
 *
 * The thrower may be more specific; this is what each code means by default.
 *
 * The details with `kind` and `retry`; those that are there already stay.
 */
export function withClass(code: ErrorCode, details: JsonObject = {}): JsonObject {
  if (details['kind'] !== undefined && details['retry'] !== undefined) return details;
  const isCancelled = code === 'E_INTERNAL' && details['reason'] === 'cancelled';
  return { ...details, ...(isCancelled ? CANCELLED : CLASSES[code]), ...given(details) };
}

function given({ kind, retry }: JsonObject): JsonObject {
  return { ...(kind === undefined ? {} : { kind }), ...(retry === undefined ? {} : { retry }) };
}

export const ERROR_CODES = [
  'E_FILE_IO',
  'E_AST_PARSE',
  'E_AST_EDIT',
  'E_VALIDATION_FAIL',
  'E_GIT',
  'E_HTTP',
  'E_SHELL',
  'E_POLICY',
  'E_TIMEOUT',
  'E_INTERNAL',
] as const;

export type ErrorCode = (typeof ERROR_CODES)[number];

export function isErrorCode(value: string): value is ErrorCode {
  return (ERROR_CODES as readonly string[]).includes(value);
}

export type JsonValue = null | boolean | number | string | readonly JsonValue[] | { readonly [key: string]: JsonValue };
export type JsonObject = { readonly [key: string]: JsonValue };

/** One element of `errors[]` or `warnings[]`. */
export interface ErrorEntry {
  readonly code: ErrorCode;
  readonly message: string;
  /** The argument, file or field concerned, as the caller wrote it. */
  readonly path?: string;
  readonly details?: JsonObject;
}

export interface ToolErrorOptions {
  readonly path?: string;
  /** Flat, safe to log: no secrets, no file contents. `rule`, `registry`, `next` and `reason` have fixed meanings. */
  readonly details?: JsonObject;
  readonly cause?: unknown;
}

/** A message names what was found; it does not carry contents. */
const MAX_MESSAGE_LENGTH = 4096;

const BRAND = Symbol.for('tool-runtime.ToolError');

export class ToolError extends Error {
  readonly code: ErrorCode;
  readonly path: string | undefined;
  readonly details: JsonObject;
  /** Only objects made by this constructor have it; a Proxy around one has not. */
  readonly #isOurs = true;

  constructor(code: ErrorCode, message: string, options: ToolErrorOptions = {}) {
    super(safeMessage(message), options.cause === undefined ? undefined : { cause: options.cause });
    this.name = 'ToolError';
    this.code = code;
    this.path = options.path;
    this.details = options.details ?? {};
    Object.defineProperty(this, BRAND, { value: true });
  }

  /** Whether it can be read without running foreign code: made here, and its fields are still plain values. */
  static isPlain(value: unknown): value is ToolError {
    if (typeof value !== 'object' || value === null || !(#isOurs in value) || !value.#isOurs) return false;
    const held = (name: string): unknown => Object.getOwnPropertyDescriptor(value, name)?.value;
    return typeof held('message') === 'string' && isCode(held('code')) && isJsonObject(held('details'));
  }

  /** The wire form, with `kind` and `retry` in its details. The cause and the stack stay at home. */
  toEntry(): ErrorEntry {
    return {
      code: this.code,
      message: this.message,
      ...(this.path === undefined ? {} : { path: this.path }),
      details: withClass(this.code, this.details),
    };
  }
}

/** Text that a message quotes cannot steer a terminal, forge a line of a log or hide text. */
function safeMessage(message: string): string {
  const cut = message.length > MAX_MESSAGE_LENGTH ? `${message.slice(0, MAX_MESSAGE_LENGTH - 1)}…` : message;
  return safeLines(cut.toWellFormed());
}

function isCode(value: unknown): value is ErrorCode {
  return typeof value === 'string' && isErrorCode(value);
}

/** False for what has no JSON form, such as a cycle, a bigint or a getter that throws. */
function isJsonObject(value: unknown): value is JsonObject {
  try {
    return typeof value === 'object' && value !== null && typeof JSON.stringify(value) === 'string';
  } catch {
    return false;
  }
}

/** Never throws, for any value. */
export function isToolError(value: unknown): value is ToolError {
  try {
    return typeof value === 'object' && value !== null && (value as Record<symbol, unknown>)[BRAND] === true;
  } catch {
    return false;
  }
}

/**
 * Any thrown value as a ToolError; never throws itself. An unknown throw is our fault, never the caller's, and its text
 * may hold anything. What comes back can be read without surprises: a ToolError of another copy of this package, or one
 * whose fields were tampered with, is copied field by field.
 */
export function toToolError(thrown: unknown): ToolError {
  if (ToolError.isPlain(thrown)) return thrown;
  return (isToolError(thrown) ? copyOf(thrown) : undefined) ?? unexpected(thrown);
}

function copyOf(error: ToolError): ToolError | undefined {
  try {
    const { code, message, path, details, cause } = error;
    if (!isCode(code) || typeof message !== 'string') return undefined;
    const plain = isJsonObject(details) ? (JSON.parse(JSON.stringify(details)) as JsonObject) : {};
    return new ToolError(code, message, { ...(typeof path === 'string' ? { path } : {}), details: plain, cause });
  } catch {
    return undefined;
  }
}

function unexpected(thrown: unknown): ToolError {
  return new ToolError('E_INTERNAL', 'The runtime failed unexpectedly', { cause: thrown });
}

const LABELS = [
  ['rule', 'rule'],
  ['decided by', 'registry'],
  ['next', 'next'],
] as const;

/** An error in words a model can act on: what, where, which rule, which line of the registry, what to do instead. */
export function describeError({ code, message, path, details = {} }: ErrorEntry): string {
  const { line } = details;
  const place = path !== undefined && typeof line === 'number' ? [`at: ${path}:${line}`] : [];
  const lines = LABELS.flatMap(([label, key]) => {
    const value = details[key];
    return typeof value === 'string' ? [`${label}: ${value}`] : [];
  });
  return [`${code}: ${message}`, ...place, ...lines].join('\n');
}
