/** What definitions cost a model, in the usual estimate of four bytes a token. */
import type { Tool } from '@modelcontextprotocol/server';

const BYTES_PER_TOKEN = 4;

export function tokensOf(tools: Tool | readonly Tool[]): number {
  return Math.ceil(Buffer.byteLength(JSON.stringify(tools)) / BYTES_PER_TOKEN);
}
