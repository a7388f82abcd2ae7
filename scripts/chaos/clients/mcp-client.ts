/** MCP over HTTP with the token of a session: what comes back is turned into what the book of calls understands. */
import type { ErrorEntry, ErrorMessage, JsonValue, ToolRequest, ToolResponse } from '@tool-runtime/protocol';
import type { CallBook } from '../../../packages/host/test/load/call-book.ts';
import type { LoadClient, ServeAddress } from '../../../packages/host/test/load/load-clients.ts';
import { callTool2026, type RpcAnswer } from '../../../packages/host/test/mcp/request-2026.ts';
import { closeSession, openSession } from './http-session.ts';

export interface McpClientOptions {
  readonly book: CallBook;
  readonly serve: ServeAddress;
  readonly workspace: string;
}

export async function openMcp({ book, serve, workspace }: McpClientOptions): Promise<LoadClient> {
  const session = await openSession(serve, { workspace });
  book.opened(session.id);
  const address = {
    url: new URL('/mcp?profile=structured', serve.url),
    headers: { authorization: `Bearer ${session.token}` },
  };
  return {
    transport: 'mcp',
    sessionId: session.id,
    closed: new Promise(() => {}),
    send(text, requestId) {
      const { type, tool, args } = JSON.parse(text) as ToolRequest;
      if (type !== 'ToolRequest') return;
      callTool2026(address, { name: tool, arguments: args }).then(
        (answer) => book.hear(JSON.stringify(toTerminal(answer, tool, requestId))),
        () => book.lose((call) => call.requestId === requestId),
      );
    },
    close: () => closeSession(serve, session),
  };
}

interface ToolResult {
  readonly isError?: boolean;
  readonly structuredContent?: JsonValue;
  readonly _meta?: { readonly 'tool-runtime/errors'?: readonly ErrorEntry[] };
}

function toTerminal(answer: RpcAnswer, tool: string, requestId: string): ToolResponse | ErrorMessage {
  const result = answer.result as ToolResult | undefined;
  if (result === undefined) return refusal(answer, requestId);
  const isOk = result.isError !== true;
  return {
    type: 'ToolResponse',
    ok: isOk,
    tool,
    request_id: requestId,
    duration_ms: 0,
    // Long data is text alone, which is not compared.
    data: isOk ? (result.structuredContent ?? null) : null,
    errors: [...(result._meta?.['tool-runtime/errors'] ?? [])],
    warnings: [],
  };
}

/** Its client said goodbye at the same time. */
const LEFT = /Session is closed|Token is not valid|No such session/;

function refusal({ status, error }: RpcAnswer, requestId: string): ErrorMessage {
  return {
    type: 'ErrorMessage',
    request_id: requestId,
    code: 'E_INTERNAL',
    message: `${status} ${error?.message ?? 'no result'}`,
    ...(LEFT.test(error?.message ?? '') ? { details: { reason: 'session_closed' } } : {}),
  };
}
