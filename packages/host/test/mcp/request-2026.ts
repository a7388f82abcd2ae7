/** Requests of the 2026 family as they go over HTTP, for what no client of good faith sends. */
import type { HttpAddress } from './stage.ts';

export interface RpcAnswer {
  readonly status: number;
  readonly result?: Readonly<Record<string, unknown>>;
  readonly error?: {
    readonly code: number;
    readonly message: string;
    readonly data?: Readonly<Record<string, unknown>>;
  };
}

const VERSION = '2026-07-28';

const FORMS = { elicitation: { form: {} } };

export function callTool2026(address: HttpAddress, params: Record<string, unknown>): Promise<RpcAnswer> {
  return request2026(address, { method: 'tools/call', params, name: String(params['name']), capabilities: FORMS });
}

export interface Request2026 {
  readonly method: string;
  readonly params: Record<string, unknown>;
  /** Of the header. */
  readonly name: string;
  readonly capabilities: object;
}

export async function request2026(
  { url, headers }: HttpAddress,
  { method, params, name, capabilities }: Request2026,
): Promise<RpcAnswer> {
  const _meta = {
    'io.modelcontextprotocol/protocolVersion': VERSION,
    'io.modelcontextprotocol/clientInfo': { name: 'raw client', version: '0' },
    'io.modelcontextprotocol/clientCapabilities': capabilities,
  };
  const response = await fetch(url, {
    method: 'POST',
    headers: {
      ...headers,
      'content-type': 'application/json',
      accept: 'application/json, text/event-stream',
      'mcp-protocol-version': VERSION,
      'mcp-method': method,
      'mcp-name': name,
    },
    body: JSON.stringify({ jsonrpc: '2.0', id: 1, method, params: { ...params, _meta } }),
  });
  const text = await response.text();
  const message = text.startsWith('{') ? text : lastEvent(text);
  return { status: response.status, ...(JSON.parse(message) as Omit<RpcAnswer, 'status'>) };
}

function lastEvent(stream: string): string {
  const data = stream.split('\n').filter((line) => line.startsWith('data:'));
  return data.at(-1)?.slice('data:'.length) ?? '{}';
}
