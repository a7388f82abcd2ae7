/** The answer to tools/list: what a profile shows, and the way to the rest where there is one. */
import type { Tool } from '@modelcontextprotocol/server';
import type { ToolListing } from '@tool-runtime/sdk';
import { CALL_TOOL } from './call-tool-definition.ts';
import { CHILD_TOOLS } from './child-tool-definitions.ts';
import { toMcpTool } from './mcp-definition.ts';
import { isStructured, selectTools, type ToolProfile } from './profiles.ts';
import { SEARCH_TOOL } from './search-tool.ts';

/** Sorted by name. With a ceiling there is no rest: what is not shown cannot be called either. */
export function presentTools(listings: readonly ToolListing[], profile: ToolProfile): readonly Tool[] {
  const { shown, rest } = selectTools(listings, profile);
  const hasRest = rest.length > 0 && profile.ceiling === undefined;
  const tools = [
    ...shown.map((listing) => toMcpTool(listing, { output: profile.output && isStructured(listing, profile) })),
    ...CHILD_TOOLS.filter(({ name }) => profile.offers(name)),
    ...(hasRest ? [CALL_TOOL, SEARCH_TOOL] : []),
  ];
  return tools.sort((left, right) => (left.name < right.name ? -1 : 1));
}
