/** The SDK's part of a connection: everything that is not plain. Loaded when it is needed. */
import {
  isInitializeRequest,
  type JSONRPCMessage,
  parseJSONRPCMessage,
  type RequestId,
  type Transport,
} from '@modelcontextprotocol/server';
import { serveStdio } from '@modelcontextprotocol/server/stdio';
import { createMcpServer, type McpServerOptions } from '../create-mcp-server.ts';
import type { ClientIdentity, McpBackend } from '../mcp-backend.ts';
import type { PlainMessage } from './plain-message.ts';

export interface SdkSideOptions extends McpServerOptions {
  readonly backend: McpBackend;
  write(frame: string): void;
  /** An opening that was answered before, to be gone through again without a word. */
  readonly opening: readonly PlainMessage[];
  /** The SDK has agreed to an opening of 2025. */
  connected(client: ClientIdentity): void;
}

export interface SdkSide {
  receive(message: unknown): void;
  close(): Promise<void>;
}

export function startSdkSide({ backend, write, opening, connected, begun }: SdkSideOptions): SdkSide {
  const answered = new Set(opening.flatMap(({ id }) => (id === undefined ? [] : [id])));
  const openings = new Map<RequestId, ClientIdentity>();
  const wire: Transport = {
    async start() {},
    async send(message) {
      if ('result' in message) conclude(message.id);
      // What was agreed before is known to both sides.
      if (!('method' in message) && message.id !== undefined && answered.delete(message.id)) return;
      write(JSON.stringify(message));
    },
    async close() {},
  };
  const handle = serveStdio(() => createMcpServer(backend, begun === undefined ? {} : { begun }), { transport: wire });
  const receive = (message: unknown): void => {
    let parsed: JSONRPCMessage;
    try {
      parsed = parseJSONRPCMessage(message);
    } catch {
      // Nobody can be told: what is no message has no id to answer to.
      return;
    }
    if (isInitializeRequest(parsed) && 'id' in parsed && parsed.id !== undefined)
      openings.set(parsed.id, parsed.params.clientInfo);
    wire.onmessage?.(parsed);
  };
  function conclude(id: RequestId): void {
    const client = openings.get(id);
    openings.delete(id);
    if (client !== undefined) connected({ name: client.name, version: client.version });
  }
  for (const message of opening) receive(message);
  return { receive, close: () => handle.close() };
}
