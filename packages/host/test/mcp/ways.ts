/** Every way a client of the official packages reaches us: both major versions, both families, both transports. */
import { Client as ClientV2, StreamableHTTPClientTransport as HttpV2 } from '@modelcontextprotocol/client';
import { StdioClientTransport as StdioV2 } from '@modelcontextprotocol/client/stdio';
import { Client as ClientV1 } from '@modelcontextprotocol/sdk/client/index.js';
import { StdioClientTransport as StdioV1 } from '@modelcontextprotocol/sdk/client/stdio.js';
import { StreamableHTTPClientTransport as HttpV1 } from '@modelcontextprotocol/sdk/client/streamableHttp.js';
import type { Transport as TransportV1 } from '@modelcontextprotocol/sdk/shared/transport.js';
import { ElicitRequestSchema } from '@modelcontextprotocol/sdk/types.js';
import type { CallToolResult, Progress, Tool } from '@modelcontextprotocol/server';
import type { Stage, TransportKind } from './stage.ts';

export interface Answer {
  readonly action: 'accept' | 'decline' | 'cancel';
  readonly content?: Record<string, string>;
}

export interface OpenOptions {
  readonly name?: string;
  readonly token?: string;
  /** How questions are answered. Without it the client says that it cannot be asked. */
  readonly onQuestion?: (message: string) => Answer;
}

export interface CallHow {
  readonly onprogress?: (progress: Progress) => void;
  readonly signal?: AbortSignal;
}

export interface OpenedClient {
  readonly version: string | undefined;
  tools(): Promise<readonly Tool[]>;
  call(name: string, args: Record<string, unknown>, how?: CallHow): Promise<CallToolResult>;
  [Symbol.asyncDispose](): Promise<void>;
}

export interface Way {
  readonly name: string;
  readonly kind: TransportKind;
  readonly family: '2025' | '2026';
  open(stage: Stage, options?: OpenOptions): Promise<OpenedClient>;
}

export const WAYS: readonly Way[] = (['stdio', 'http'] as const).flatMap((kind): Way[] => [
  { name: `v1 client on ${kind}`, kind, family: '2025', open: openV1 },
  { name: `v2 client of 2025 on ${kind}`, kind, family: '2025', open: (...given) => openV2('legacy', ...given) },
  {
    name: `v2 client of 2026 on ${kind}`,
    kind,
    family: '2026',
    open: (...given) => openV2({ pin: '2026-07-28' }, ...given),
  },
]);

async function openV1(stage: Stage, { name = 'test', token, onQuestion }: OpenOptions = {}): Promise<OpenedClient> {
  const capabilities = onQuestion === undefined ? {} : { elicitation: {} };
  const client = new ClientV1({ name, version: '1.0.0' }, { capabilities });
  if (onQuestion !== undefined) {
    client.setRequestHandler(ElicitRequestSchema, async ({ params }) => ({ ...onQuestion(params.message) }));
  }
  const transport = stage.kind === 'stdio' ? new StdioV1({ ...stage.stdio(), stderr: 'ignore' }) : httpV1(stage, token);
  await client.connect(transport as TransportV1);
  return {
    version: client.getServerCapabilities() === undefined ? undefined : '2025-11-25',
    tools: () => allPages((cursor) => client.listTools(cursor) as Promise<Page>),
    call: (tool, args, how) =>
      client.callTool({ name: tool, arguments: args }, undefined, how) as Promise<CallToolResult>,
    [Symbol.asyncDispose]: () => client.close(),
  };
}

function httpV1(stage: Stage, token: string | undefined): HttpV1 {
  const { url, headers } = stage.http(token);
  return new HttpV1(url, { requestInit: { headers } });
}

async function openV2(
  mode: 'legacy' | { readonly pin: string },
  stage: Stage,
  { name = 'test', token, onQuestion }: OpenOptions = {},
): Promise<OpenedClient> {
  const capabilities = onQuestion === undefined ? {} : { elicitation: { form: {} } };
  const client = new ClientV2({ name, version: '2.0.0' }, { capabilities, versionNegotiation: { mode } });
  if (onQuestion !== undefined) {
    client.setRequestHandler('elicitation/create', async ({ params }) => ({ ...onQuestion(params.message) }));
  }
  await client.connect(
    stage.kind === 'stdio' ? new StdioV2({ ...stage.stdio(), stderr: 'ignore' }) : httpV2(stage, token),
  );
  return {
    version: client.getNegotiatedProtocolVersion(),
    tools: () => allPages((cursor) => client.listTools(cursor)),
    call: (tool, args, how) => client.callTool({ name: tool, arguments: args }, how),
    [Symbol.asyncDispose]: () => client.close(),
  };
}

function httpV2(stage: Stage, token: string | undefined): HttpV2 {
  const { url, headers } = stage.http(token);
  return new HttpV2(url, { requestInit: { headers } });
}

interface Page {
  readonly tools: readonly Tool[];
  readonly nextCursor?: string | undefined;
}

async function allPages(list: (params?: { cursor: string }) => Promise<Page>): Promise<readonly Tool[]> {
  const tools: Tool[] = [];
  let page = await list();
  tools.push(...page.tools);
  while (page.nextCursor !== undefined) {
    page = await list({ cursor: page.nextCursor });
    tools.push(...page.tools);
  }
  return tools;
}
