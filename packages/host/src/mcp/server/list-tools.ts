/** tools/list: one page of what the profile shows. */
import type { ListToolsResult } from '@modelcontextprotocol/server';
import { presentTools } from '../profiles/present-tools.ts';
import type { McpBackend } from './mcp-backend.ts';
import { page } from './page.ts';

export async function listTools(backend: McpBackend, cursor: string | undefined): Promise<ListToolsResult> {
  const tools = presentTools(await backend.listings(), backend.profile);
  const { items, nextCursor } = page(tools, cursor);
  return { tools: items, ...(nextCursor === undefined ? {} : { nextCursor }) };
}
