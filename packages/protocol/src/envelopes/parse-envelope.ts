/**
 * Text to message, once, at the edge: scan, parse, strict schema. Never throws; what is wrong comes back as the
 * ErrorMessage to send, addressed to the request when its id could be read without doubt.
 */
import type { z } from 'zod';
import { describeIssues } from '../primitives/describe-issues.ts';
import { type JsonObject, toToolError, withClass } from '../primitives/errors.ts';
import { DEFAULT_MAX_BYTES, type ScanLimits, scanJson } from '../primitives/scan-json.ts';
import { type ClientMessage, clientMessageSchema } from './client-message.ts';
import { idSchema } from './fields.ts';
import type { ErrorMessage } from './from-host/error-message.ts';
import { readRequestId } from './read-request-id.ts';
import { type ServerMessage, serverMessageSchema } from './server-message.ts';

export type ParsedMessage<Message> =
  | { readonly ok: true; readonly message: Message }
  | { readonly ok: false; readonly error: ErrorMessage };

export function parseClientMessage(text: string, limits: ScanLimits = {}): ParsedMessage<ClientMessage> {
  return parseMessage(clientMessageSchema, text, limits);
}

export function parseServerMessage(text: string, limits: ScanLimits = {}): ParsedMessage<ServerMessage> {
  return parseMessage(serverMessageSchema, text, limits);
}

function parseMessage<Message>(schema: z.ZodType<Message>, text: string, limits: ScanLimits): ParsedMessage<Message> {
  let value: unknown;
  try {
    scanJson(text, limits);
    value = JSON.parse(text);
  } catch (thrown) {
    // May stop here: the refusal is the answer, and it goes back to the sender.
    return { ok: false, error: scanRefusal(thrown, text, limits) };
  }
  const parsed = schema.safeParse(value);
  return parsed.success ? { ok: true, message: parsed.data } : { ok: false, error: schemaRefusal(parsed.error, value) };
}

function scanRefusal(thrown: unknown, text: string, limits: ScanLimits): ErrorMessage {
  const { code, message, path, details } = toToolError(thrown);
  // Somewhat too long a text is worth reading for its sender's sake; one far beyond the limit is not.
  const isReadable = text.length <= 2 * (limits.maxBytes ?? DEFAULT_MAX_BYTES);
  return {
    type: 'ErrorMessage',
    code,
    message,
    request_id: isReadable ? readRequestId(text) : null,
    details: withClass(code, path === undefined ? details : { ...details, path }),
  };
}

function schemaRefusal(error: z.ZodError, value: unknown): ErrorMessage {
  const { message, path, issues } = describeIssues(error, value);
  const details: JsonObject = {
    reason: 'invalid_fields',
    ...(path === undefined ? {} : { path }),
    fields: issues.map((issue) => issue.path),
  };
  return {
    type: 'ErrorMessage',
    code: 'E_VALIDATION_FAIL',
    message: `Invalid ${nameOf(value)}: ${message}`,
    request_id: requestIdOf(value),
    details: withClass('E_VALIDATION_FAIL', details),
  };
}

function nameOf(value: unknown): string {
  const type = ownField(value, 'type');
  return typeof type === 'string' && /^[A-Za-z]{1,40}$/.test(type) ? type : 'message';
}

function requestIdOf(value: unknown): string | null {
  const id = idSchema.safeParse(ownField(value, 'request_id'));
  return id.success ? id.data : null;
}

function ownField(value: unknown, name: string): unknown {
  const isObject = typeof value === 'object' && value !== null && Object.hasOwn(value, name);
  return isObject ? (value as Record<string, unknown>)[name] : undefined;
}
