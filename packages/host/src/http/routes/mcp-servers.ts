/** Routes about mounted MCP servers: which of their tools are approved, what waits, and the approval of what was shown. */
import {
  approveToolsSchema,
  type MountedServer,
  mountedServersSchema,
  refreshServerSchema,
  ToolError,
  toolsApprovedSchema,
  type WaitingTools,
  waitingToolsSchema,
} from '@tool-runtime/protocol';
import type { ForeignServer, ForeignTool, Registry } from '@tool-runtime/sdk';
import { z } from 'zod';
import { lineDiff } from '../../ops/line-diff.ts';
import { defineRoute, type RouteCall } from '../route.ts';

const workspaceQuery = z.strictObject({ workspace: z.string().max(4096).exactOptional() });
/** Diffs take time, and a server may list hundreds of tools; the next ones follow when these are approved. */
const MAX_WAITING = 32;

export const listMcpServers = defineRoute({
  id: 'listMcpServers',
  method: 'get',
  path: '/v1/mcp/servers',
  summary: 'MCP servers that the registry mounts, and which of their tools are approved, new, changed or refused',
  scope: 'audit',
  isHostWide: true,
  query: workspaceQuery,
  answers: { 200: { description: 'Mounted servers', schema: mountedServersSchema } },
  handle({ host, query }) {
    const { name, runtime } = host.workspaces.find(query.workspace);
    const servers = runtime.servers().map((server) => describe(server, runtime.registry));
    return { status: 200, json: { workspace: name, servers } };
  },
});

export const listWaitingTools = defineRoute({
  id: 'listWaitingTools',
  method: 'get',
  path: '/v1/mcp/servers/{server}/waiting',
  summary: 'Definitions of a mounted server that wait for approval, each as a diff from the approved one',
  scope: 'audit',
  isHostWide: true,
  query: workspaceQuery,
  answers: {
    200: { description: `What waits, at most ${MAX_WAITING} definitions`, schema: waitingToolsSchema },
    404: { description: 'The registry mounts no such server' },
  },
  handle: ({ host, params, query }) => ({ status: 200, json: waitingOf(serverOf(host, params, query.workspace)) }),
});

/** Starts the program that the registry names, so it takes more than looking. */
export const refreshMcpServer = defineRoute({
  id: 'refreshMcpServer',
  method: 'post',
  path: '/v1/mcp/servers/{server}/refresh',
  summary: 'Ask a fresh instance of a mounted server for its tools; what is new or changed waits for approval',
  scope: 'approve',
  isHostWide: true,
  body: refreshServerSchema,
  answers: {
    200: { description: 'What waits now', schema: waitingToolsSchema },
    404: { description: 'The registry mounts no such server' },
    502: { description: 'The server could not be started or did not answer' },
  },
  async handle({ host, params, body }) {
    for (;;) {
      const { runtime } = host.workspaces.find(body.workspace);
      const server = serverOf(host, params, body.workspace);
      try {
        await server.refresh();
        return { status: 200, json: waitingOf(server) };
      } catch (thrown) {
        // A workspace that was opened anew meanwhile has ended the programs of the runtime before; the new one is asked.
        if (host.workspaces.find(body.workspace).runtime === runtime) throw thrown;
      }
    }
  },
});

/** Names digests, so that what was looked at is what is approved. */
export const approveTools = defineRoute({
  id: 'approveTools',
  method: 'post',
  path: '/v1/mcp/servers/{server}/approve',
  summary: 'Approve definitions that wait, by their digests; sessions opened afterwards may use them',
  description:
    'All or none. A host that follows its registry opens anew within a second; others use them after a restart.',
  scope: 'approve',
  isHostWide: true,
  body: approveToolsSchema,
  answers: {
    200: { description: 'What was approved', schema: toolsApprovedSchema },
    404: { description: 'The registry mounts no such server' },
    409: { description: 'Another version waits by now, or none; nothing was approved' },
  },
  handle({ host, principal, params, body }) {
    const server = serverOf(host, params, body.workspace);
    const approved = server.approve(new Map(body.tools.map(({ tool, digest }) => [tool, digest])));
    host.log.info('mcp_definitions_approved', { server: server.server, approved, by: principal.name });
    return { status: 200, json: { server: server.server, approved } };
  },
});

function serverOf(host: RouteCall['host'], params: RouteCall['params'], workspace: string | undefined): ForeignServer {
  const found = host.workspaces
    .find(workspace)
    .runtime.servers()
    .find(({ server }) => server === params['server']);
  if (found !== undefined) return found;
  throw new ToolError('E_POLICY', 'The registry mounts no such server', {
    details: { reason: 'server_not_mounted', next: 'see GET /v1/mcp/servers' },
  });
}

type ToolState = MountedServer['tools'][number]['state'];

function stateOf({ approved, pending, refused }: ForeignTool): ToolState {
  if (refused !== undefined) return 'refused';
  if (pending === undefined) return 'approved';
  return approved === undefined ? 'new' : 'changed';
}

function describe(server: ForeignServer, registry: Registry): MountedServer {
  const spot = registry.spot(`mcp_servers.${server.server}`);
  return {
    server: server.server,
    target: server.target,
    ...(spot === undefined ? {} : { registry: `${spot.file}:${spot.line}` }),
    is_running: server.isRunning,
    tools: server.tools().map((tool) => ({
      tool: tool.tool,
      ...(tool.name === undefined ? {} : { name: tool.name }),
      state: stateOf(tool),
      ...(tool.approved === undefined ? {} : { digest: tool.approved.digest }),
      ...(tool.refused === undefined ? {} : { reason: tool.refused }),
    })),
  };
}

function waitingOf(server: ForeignServer): WaitingTools {
  const waiting = server.tools().flatMap((tool) => (tool.pending === undefined ? [] : [{ ...tool, ...tool.pending }]));
  return {
    server: server.server,
    total: waiting.length,
    waiting: waiting.slice(0, MAX_WAITING).map(({ tool, digest, definition, approved }) => ({
      tool,
      state: approved === undefined ? 'new' : 'changed',
      digest,
      diff: lineDiff(textOf(approved?.definition), textOf(definition), tool),
    })),
  };
}

function textOf(definition: object | undefined): string {
  return definition === undefined ? '' : `${JSON.stringify(definition, null, 2)}\n`;
}
