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

export async function callTool2026({ url, headers }: HttpAddress, params: Record<string, unknown>): Promise<RpcAnswer> {
  const _meta = {
    'io.modelcontextprotocol/protocolVersion': VERSION,
    'io.modelcontextprotocol/clientInfo': { name: 'raw client', version: '0' },
    'io.modelcontextprotocol/clientCapabilities': { elicitation: { form: {} } },
  };
  const response = await fetch(url, {
    method: 'POST',
    headers: {
      ...headers,
      'content-type': 'application/json',
      accept: 'application/json, text/event-stream',
      'mcp-protocol-version': VERSION,
      'mcp-method': 'tools/call',
      'mcp-name': String(params['name']),
    },
    body: JSON.stringify({ jsonrpc: '2.0', id: 1, method: 'tools/call', params: { ...params, _meta } }),
  });
  const text = await response.text();
  const message = text.startsWith('{') ? text : lastEvent(text);
  return { status: response.status, ...(JSON.parse(message) as Omit<RpcAnswer, 'status'>) };
}

function lastEvent(stream: string): string {
  const data = stream.split('\n').filter((line) => line.startsWith('data:'));
  return data.at(-1)?.slice('data:'.length) ?? '{}';
}
