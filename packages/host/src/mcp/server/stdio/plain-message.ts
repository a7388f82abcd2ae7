/**
 * JSON-RPC messages of exactly the usual shape. Whatever is a little different is left to the SDK, which knows all the
 * ways a message can be right or wrong.
 */
export type RequestId = string | number;
export type PlainObject = Readonly<Record<string, unknown>>;

export interface PlainMessage {
  readonly jsonrpc: '2.0';
  /** Not there in a notification. */
  readonly id?: RequestId;
  readonly method: string;
  readonly params?: PlainObject;
}

const KEYS: ReadonlySet<string> = new Set(['jsonrpc', 'id', 'method', 'params']);

export function readPlainMessage(message: unknown): PlainMessage | undefined {
  if (!isPlainObject(message) || !hasOnly(message, KEYS)) return undefined;
  const { jsonrpc, id, method, params } = message;
  if (jsonrpc !== '2.0' || typeof method !== 'string') return undefined;
  if (id !== undefined && typeof id !== 'string' && !Number.isSafeInteger(id)) return undefined;
  if (params !== undefined && !isPlainObject(params)) return undefined;
  return message as unknown as PlainMessage;
}

export function isPlainObject(value: unknown): value is PlainObject {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

export function hasOnly(value: PlainObject, keys: ReadonlySet<string>): boolean {
  for (const key in value) if (!keys.has(key)) return false;
  return true;
}
