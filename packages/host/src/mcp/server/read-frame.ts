/**
 * Text of an MCP message to a value, with the checks every other entrance has: depth, duplicate keys, `__proto__`,
 * numbers out of range, and the name of the tool. The SDK reads with `JSON.parse` alone, which accepts all of these,
 * and repeats a name in its messages whatever its length.
 */
import type { RequestId } from '@modelcontextprotocol/server';
import { isPrintableId, isToolError, scanJson, ToolError } from '@tool-runtime/protocol/internal';

export type Frame =
  | { readonly ok: true; readonly message: unknown }
  /** `refusal` is the JSON-RPC error to send; undefined for what is not JSON at all, which the SDK knows how to treat. */
  | { readonly ok: false; readonly refusal: string | undefined };

const INVALID_REQUEST = -32_600;

export function readFrame(text: string, maxBytes: number): Frame {
  try {
    scanJson(text, { maxBytes });
    const message: unknown = JSON.parse(text);
    checkToolName(message);
    return { ok: true, message };
  } catch (thrown) {
    if (!isToolError(thrown)) throw thrown;
    return { ok: false, refusal: isText(thrown) ? undefined : refusalOf(thrown, idOf(text, thrown)) };
  }
}

function checkToolName(message: unknown): void {
  if (!isPlainObject(message) || message['method'] !== 'tools/call' || !isPlainObject(message['params'])) return;
  const { name } = message['params'];
  // What is no string at all is left to the SDK, which describes it.
  if (typeof name !== 'string' || isPrintableId(name)) return;
  throw new ToolError('E_VALIDATION_FAIL', 'Tool name must be 1 to 512 printable bytes: params.name', {
    path: 'params.name',
    details: { reason: 'invalid_fields', next: 'call a tool by a name that tools/list gives' },
  });
}

function isText({ details }: ToolError): boolean {
  return details['reason'] === 'syntax';
}

function refusalOf({ code, message, path, details }: ToolError, id: RequestId | undefined): string {
  const data = { code, ...details, ...(path === undefined ? {} : { path }) };
  return JSON.stringify({ jsonrpc: '2.0', id, error: { code: INVALID_REQUEST, message, data } });
}

/** Undefined where the id is in doubt: it occurs twice, or the rest is not JSON. */
function idOf(text: string, { path }: ToolError): RequestId | undefined {
  if (path === 'id') return undefined;
  try {
    const message: unknown = JSON.parse(text);
    const id = isPlainObject(message) && Object.hasOwn(message, 'id') ? message['id'] : undefined;
    return typeof id === 'string' || Number.isSafeInteger(id) ? (id as RequestId) : undefined;
  } catch {
    return undefined;
  }
}

function isPlainObject(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}
