/** An MCP server over one backend. The same definition serves the 2025 and the 2026 family; the SDK translates. */
import {
  type CallToolRequest,
  type CallToolResult,
  CLIENT_INFO_META_KEY,
  type Implementation,
  type ListToolsResult,
  LOG_LEVEL_META_KEY,
  type LoggingLevel,
  ProtocolError,
  ResourceNotFoundError,
  type Server,
  type ServerCapabilities,
  type ServerContext,
} from '@modelcontextprotocol/server';
import { isToolError } from '@tool-runtime/protocol';
import { z } from 'zod';
import { presentTools } from '../profiles/present-tools.ts';
import { refuseUndeclared, TASKS_EXTENSION } from './call-tasks.ts';
import { callTool } from './call-tool.ts';
import type { ClientIdentity, McpBackend } from './mcp-backend.ts';
import type { ResourceReader } from './resource-source.ts';
import { StrictServer } from './strict-server.ts';

const CAPABILITIES: ServerCapabilities = {
  tools: { listChanged: true },
  resources: { listChanged: true, subscribe: true },
  prompts: { listChanged: true },
  completions: {},
  logging: {},
  extensions: { [TASKS_EXTENSION]: {} },
};

const INSTRUCTIONS =
  "Every call is checked against the operator's policy and recorded. A refusal names the rule and what to do instead; repeating the call unchanged does not help.";

/** Lists change only when the operator changes the registry, and clients that listen are told; a minute is safe. */
const LIST_HINT = { ttlMs: 60_000, cacheScope: 'private' } as const;

function serverInfo(version: string): Implementation {
  return { name: 'tool-runtime', title: 'Tool Runtime', version };
}

const PAGE = 100;

/** The SDK answers with the code of what is thrown. */
class UnknownCursor extends TypeError {
  readonly code = -32_602;
}

export function createMcpServer(backend: McpBackend): StrictServer {
  const server = new StrictServer(serverInfo(backend.serverVersion), {
    capabilities: CAPABILITIES,
    instructions: INSTRUCTIONS,
    cacheHints: {
      'tools/list': LIST_HINT,
      'prompts/list': LIST_HINT,
      'resources/templates/list': LIST_HINT,
      'server/discover': LIST_HINT,
    },
    requestState: { verify: (state, ctx) => backend.states.verify(state, ctx) },
  });
  addTools(server, backend);
  addTasks(server, backend);
  addResources(server, backend);
  addPrompts(server, backend);
  return server;
}

function addTools(server: StrictServer, backend: McpBackend): void {
  // A client that is gone hears nothing.
  backend.onToolsChanged?.(() => void server.sendToolListChanged().catch(() => {}));
  server.setRequestHandler('tools/list', ({ params }) => listTools(backend, params?.cursor));
  let setLevel: LoggingLevel | undefined;
  server.setRequestHandler('logging/setLevel', async ({ params }) => {
    setLevel = params.level;
    return {};
  });
  const call = (params: CallToolRequest['params'], ctx: ServerContext) => {
    const logLevel = (envelopeOf(ctx)?.[LOG_LEVEL_META_KEY] as LoggingLevel | undefined) ?? setLevel;
    const caller = { client: clientOf(server, ctx), abilities: server.getClientCapabilities(), logLevel };
    const result = callTool(params, ctx, backend, caller).catch(toProtocolError);
    const timer = closeLater(ctx, backend);
    return timer === undefined ? result : result.finally(() => clearTimeout(timer));
  };
  server.setRequestHandler('tools/call', ({ params }, ctx) => call(params, ctx) as Promise<CallToolResult>);
  server.setPlainCallHandler(call);
}

/** The call goes on; a client of 2025-11-25 comes back for its answer. */
function closeLater({ http }: ServerContext, { streamMs }: McpBackend): NodeJS.Timeout | undefined {
  const close = http?.closeSSE;
  return close === undefined || streamMs === undefined ? undefined : setTimeout(close, streamMs);
}

const NAMED_TASK = z.looseObject({ taskId: z.string() });

function addTasks(server: StrictServer, { tasks }: McpBackend): void {
  server.setRequestHandler('tasks/get', { params: NAMED_TASK }, ({ taskId }, ctx) => {
    refuseUndeclared(ctx);
    return tasks.find(taskId).detail();
  });
  server.setRequestHandler('tasks/update', { params: NAMED_TASK }, ({ taskId }, ctx) => {
    refuseUndeclared(ctx);
    tasks.find(taskId).update(ctx.mcpReq.inputResponses ?? {});
    return {};
  });
  server.setRequestHandler('tasks/cancel', { params: NAMED_TASK }, ({ taskId }, ctx) => {
    refuseUndeclared(ctx);
    tasks.find(taskId).cancel();
    return {};
  });
}

/** One page of what the profile shows. */
async function listTools(backend: McpBackend, cursor: string | undefined): Promise<ListToolsResult> {
  const tools = presentTools(await backend.tools.all(), backend.profile);
  const { items, nextCursor } = page(tools, cursor);
  return { tools: items, ...(nextCursor === undefined ? {} : { nextCursor }) };
}

function addResources(server: Server, backend: McpBackend): void {
  const readerOf = (ctx: ServerContext): ResourceReader => ({
    session: backend.openedSession(),
    openSession: () => backend.session(clientOf(server, ctx)),
    ctx,
  });
  server.setRequestHandler('resources/list', async ({ params }, ctx) => {
    const lists = await Promise.all(backend.resources.map((source) => source.list?.(readerOf(ctx)) ?? []));
    const { items, nextCursor } = page(lists.flat(), params?.cursor);
    return { resources: items, ...(nextCursor === undefined ? {} : { nextCursor }) };
  });
  server.setRequestHandler('resources/templates/list', async () => ({
    resourceTemplates: backend.resources.flatMap(({ template }) => (template === undefined ? [] : [{ ...template }])),
  }));
  server.setRequestHandler('resources/read', async ({ params }, ctx) => {
    for (const source of backend.resources) {
      const found = source.read(params.uri, readerOf(ctx));
      if (found !== undefined) return found.catch(toProtocolError);
    }
    throw new ResourceNotFoundError(params.uri);
  });
  // Records and artifacts never change once they are there: a subscription is granted and has nothing to tell.
  server.setRequestHandler('resources/subscribe', async () => ({}));
  server.setRequestHandler('resources/unsubscribe', async () => ({}));
}

function addPrompts(server: Server, backend: McpBackend): void {
  server.setRequestHandler('prompts/list', async ({ params }) => {
    const { items, nextCursor } = page(
      backend.prompts.map(({ prompt }) => prompt),
      params?.cursor,
    );
    return { prompts: items, ...(nextCursor === undefined ? {} : { nextCursor }) };
  });
  server.setRequestHandler('prompts/get', async ({ params }, ctx) => {
    const source = backend.prompts.find(({ prompt }) => prompt.name === params.name);
    if (source === undefined) throw new ProtocolError(INVALID_PARAMS, `There is no such prompt: ${params.name}`);
    return source.get(params.arguments ?? {}, ctx);
  });
  server.setRequestHandler('completion/complete', async ({ params }, ctx) => {
    const { ref, argument } = params;
    const values =
      ref.type === 'ref/prompt'
        ? backend.prompts.find(({ prompt }) => prompt.name === ref.name)?.complete?.(argument.name, argument.value)
        : backend.resources
            .find(({ template }) => template?.uriTemplate === ref.uri)
            ?.complete?.(argument.name, argument.value, {
              session: backend.openedSession(),
              openSession: () => backend.session(clientOf(server, ctx)),
              ctx,
            });
    const all = (await values) ?? [];
    return { completion: { values: all.slice(0, 100), total: all.length, hasMore: all.length > 100 } };
  });
}

const INVALID_PARAMS = -32_602;
const INTERNAL = -32_603;

/** Refusals of tools are results; what lands here is a session that ended, or a fault of ours. */
function toProtocolError(thrown: unknown): never {
  if (!isToolError(thrown)) throw thrown;
  const { code, message, details } = thrown;
  throw new ProtocolError(code === 'E_INTERNAL' ? INTERNAL : INVALID_PARAMS, `${code}: ${message}`, {
    code,
    ...(details === undefined ? {} : { details }),
  });
}

function clientOf(server: Server, ctx: ServerContext): ClientIdentity {
  const info = (envelopeOf(ctx)?.[CLIENT_INFO_META_KEY] as Implementation | undefined) ?? server.getClientVersion();
  return { name: info?.name ?? 'mcp client', version: info?.version };
}

function envelopeOf(ctx: ServerContext): Readonly<Record<string, unknown>> | undefined {
  return ctx.mcpReq.envelope as Readonly<Record<string, unknown>> | undefined;
}

/** One page of a list. The cursor is a position: a list that changed meanwhile may leave one out or give it twice. */
function page<Item>(
  all: readonly Item[],
  cursor: string | undefined,
): { readonly items: Item[]; readonly nextCursor: string | undefined } {
  const start = cursor === undefined ? 0 : positionOf(cursor, all.length);
  const end = start + PAGE;
  return { items: all.slice(start, end), nextCursor: end < all.length ? `${end}` : undefined };
}

function positionOf(cursor: string, length: number): number {
  const position = /^\d{1,9}$/.test(cursor) ? Number(cursor) : -1;
  if (position > 0 && position < length) return position;
  throw new UnknownCursor('Cursor is not one of this list');
}
