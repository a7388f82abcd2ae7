/** Answers of foreign servers hold content of MCP already: pictures and links reach the client as what they are. */
import type { CallToolResult } from '@modelcontextprotocol/server';
import { isJsonObject, type JsonValue } from '@tool-runtime/protocol';

const BLOCKS: ReadonlySet<unknown> = new Set(['text', 'image', 'audio', 'resource', 'resource_link']);

/** Nothing to change for data of any other shape. */
export function presentBlocks(data: JsonValue): Partial<CallToolResult> {
  const content = isJsonObject(data) ? data['content'] : undefined;
  if (!Array.isArray(content) || content.length === 0) return {};
  const areBlocks = content.every((block) => isJsonObject(block) && BLOCKS.has(block['type']));
  return areBlocks ? { content: content as unknown as CallToolResult['content'] } : {};
}
