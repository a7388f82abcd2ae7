/**
 * Arguments that travel in headers too (`x-mcp-header` in the schema of a tool), so that proxies can route by them. The
 * SDK checks them for servers of its own kind only. Header and body must say the same, or a proxy and the tool would act
 * on different values.
 */
import { isUtf8 } from 'node:buffer';
import type { JSONRPCRequest } from '@modelcontextprotocol/server';
import type { McpBackend } from './mcp-backend.ts';

type Schema = Readonly<Record<string, unknown>>;

export interface HeaderArgument {
  readonly path: readonly string[];
  /** `Mcp-Param-Region`. */
  readonly header: string;
}

const KEYWORD = 'x-mcp-header';
const BASE64 = /^=\?base64\?(.*)\?=$/s;
const HEADER_MISMATCH = -32_020;

type HeaderCheck = (
  headers: Headers,
  body: unknown,
  backendOf: () => Pick<McpBackend, 'tools' | 'profile'>,
) => Promise<Response | undefined>;

/** Only of tools that the client is shown: it cannot know about the headers of others. */
export function createHeaderCheck(): HeaderCheck {
  const known = new WeakMap<object, readonly HeaderArgument[]>();
  return async (headers, body, backendOf) => {
    const { id, method, params } = (body ?? {}) as Partial<JSONRPCRequest>;
    if (method !== 'tools/call') return undefined;
    const { tools, profile } = backendOf();
    const listing = (await tools.all()).find(({ name }) => name === params?.['name']);
    if (listing === undefined || !profile.shows(listing)) return undefined;
    const declared = known.get(listing) ?? headerArguments(listing.argsSchema);
    known.set(listing, declared);
    const problem = headerProblem(declared, params?.['arguments'], headers);
    return problem === undefined ? undefined : headerMismatch(id, problem);
  };
}

/** Only properties of objects can have one. */
export function headerArguments(schema: object, path: readonly string[] = []): readonly HeaderArgument[] {
  const { properties } = schema as Schema;
  if (!isObject(properties)) return [];
  return Object.entries(properties).flatMap(([name, inner]) => {
    if (!isObject(inner)) return [];
    const here = [...path, name];
    const header = inner[KEYWORD];
    const own = typeof header === 'string' ? [{ path: here, header: `Mcp-Param-${header}` }] : [];
    return [...own, ...headerArguments(inner, here)];
  });
}

/** What is wrong with the headers of a call; undefined: nothing. A header without an argument is not looked at. */
export function headerProblem(
  declared: readonly HeaderArgument[],
  args: unknown,
  headers: Headers,
): { readonly header: string; readonly problem: string } | undefined {
  for (const { path, header } of declared) {
    const value = path.reduce<unknown>((at, name) => (isObject(at) ? at[name] : undefined), args);
    if (value === undefined || value === null || typeof value === 'object') continue;
    const given = headers.get(header);
    if (given === null) return { header, problem: `the body has ${path.join('.')}, and the header is missing` };
    const decoded = decode(given);
    if (decoded === undefined) return { header, problem: 'the header is not valid Base64' };
    if (!isSame(decoded, value)) return { header, problem: `it differs from ${path.join('.')} of the body` };
  }
  return undefined;
}

export function headerMismatch(id: unknown, { header, problem }: { header: string; problem: string }): Response {
  const error = { code: HEADER_MISMATCH, message: `Header ${header}: ${problem}`, data: { mismatch: { header } } };
  return Response.json({ jsonrpc: '2.0', id: id ?? null, error }, { status: 400 });
}

function decode(given: string): string | undefined {
  const encoded = BASE64.exec(given)?.[1];
  if (encoded === undefined) return given;
  const bytes = Buffer.from(encoded, 'base64');
  return bytes.toString('base64') === encoded && isUtf8(bytes) ? bytes.toString('utf8') : undefined;
}

function isSame(text: string, value: unknown): boolean {
  return typeof value === 'number' ? text.trim() !== '' && Number(text) === value : text === String(value);
}

function isObject(value: unknown): value is Schema {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}
