/** The answer to tools/list: what a profile shows, and the way to the rest where there is one. */
import type { Tool } from '@modelcontextprotocol/server';
import type { ToolListing } from '@tool-runtime/sdk';
import { CALL_TOOL } from './call-tool-definition.ts';
import { toMcpTool } from './mcp-definition.ts';
import { selectTools, type ToolProfile } from './profiles.ts';
import { SEARCH_TOOL } from './search-tool.ts';

/** Sorted by name. With a ceiling there is no rest: what is not shown cannot be called either. */
export function presentTools(listings: readonly ToolListing[], profile: ToolProfile): readonly Tool[] {
  const { shown, rest } = selectTools(listings, profile);
  const tools = shown.map((listing) => toMcpTool(listing, { output: profile.output }));
  if (rest.length === 0 || profile.ceiling !== undefined) return tools;
  return [...tools, CALL_TOOL, SEARCH_TOOL].sort((left, right) => (left.name < right.name ? -1 : 1));
}
