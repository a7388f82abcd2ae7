/** The tools for child sessions, answered: opening and ending one, and which session a child_call goes to. */
import type { CallToolRequest, CallToolResult } from '@modelcontextprotocol/server';
import type { JsonObject } from '@tool-runtime/protocol';
import { toolNames } from '../../sessions/describe-child.ts';
import type { ServedSession } from '../../sessions/served-session.ts';
import { readChildCall, readChildClose, readChildOpen } from '../profiles/child-tool-definitions.ts';
import { CHILD_CALL_NAME, CHILD_CLOSE_NAME, CHILD_OPEN_NAME } from '../profiles/child-tool-names.ts';
import type { ClientIdentity, McpBackend } from './mcp-backend.ts';
import { toDataResult, toRefusal } from './tool-result.ts';

/** Undefined for what is a call of a tool after all. */
export async function answerChildTool(
  { name, arguments: args = {} }: CallToolRequest['params'],
  backend: McpBackend,
  client: ClientIdentity,
): Promise<CallToolResult | undefined> {
  const isOurs = name === CHILD_OPEN_NAME || name === CHILD_CLOSE_NAME;
  if (!isOurs || !backend.profile.offers(name)) return undefined;
  try {
    if (name === CHILD_OPEN_NAME) return toDataResult(await open(args, backend, client));
    const { session_id, cancel } = readChildClose(args);
    return toDataResult({ ...(await backend.children.end(session_id, { cancel })) });
  } catch (thrown) {
    return toRefusal(thrown);
  }
}

async function open(args: object, backend: McpBackend, client: ClientIdentity): Promise<JsonObject> {
  const child = await backend.children.open(client, readChildOpen(args));
  return {
    session_id: child.id,
    agent_id: child.agentId,
    tools: toolNames(child),
    manifest: { ...child.manifest } as unknown as JsonObject,
  };
}

export interface ChildCall {
  readonly params: CallToolRequest['params'];
  readonly served: ServedSession;
}

/** Undefined for what is no child_call; throws ToolError for one that does not fit or names no child of this connection. */
export function readChildTarget(
  { name, arguments: args }: CallToolRequest['params'],
  backend: McpBackend,
): ChildCall | undefined {
  if (name !== CHILD_CALL_NAME || !backend.profile.offers(name)) return undefined;
  const { session_id, tool, args: toolArgs } = readChildCall(args);
  return { params: { name: tool, arguments: toolArgs }, served: backend.children.find(session_id) };
}
