/** Answers of foreign servers hold content of MCP already: pictures and links reach the client as what they are. */
import type { CallToolResult } from '@modelcontextprotocol/server';
import type { JsonObject, JsonValue } from '@tool-runtime/protocol';

const BLOCKS: ReadonlySet<unknown> = new Set(['text', 'image', 'audio', 'resource', 'resource_link']);

/** Nothing to change for data of any other shape. */
export function presentBlocks(data: JsonValue): Partial<CallToolResult> {
  // Only looked at from above: it is JSON already, and may be large.
  const content = fieldOf(data, 'content');
  if (!Array.isArray(content) || content.length === 0) return {};
  const areBlocks = content.every((block) => BLOCKS.has(fieldOf(block, 'type')));
  return areBlocks ? { content: content as unknown as CallToolResult['content'] } : {};
}

function fieldOf(value: JsonValue, name: string): JsonValue | undefined {
  return typeof value === 'object' && value !== null ? (value as JsonObject)[name] : undefined;
}
