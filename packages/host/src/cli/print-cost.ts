/** tools --cost: what the definitions of the tools cost a model, one by one and as profiles. */
import type { Tool } from '@modelcontextprotocol/server';
import type { ToolListing } from '@tool-runtime/sdk';
import { toMcpTool } from '../mcp/profiles/mcp-definition.ts';
import { presentTools } from '../mcp/profiles/present-tools.ts';
import { PROFILE_NAMES, resolveProfile } from '../mcp/profiles/profiles.ts';
import { paint, printJson, printLine, showError } from '../terminal/terminal.ts';

export interface CostOptions {
  readonly name: string | undefined;
  readonly json: boolean;
  /** The operator's own profiles. */
  readonly lists: Readonly<Record<string, readonly string[]>>;
}

interface ToolCost {
  readonly name: string;
  readonly tokens: number;
  /** With the schema of the answer, as in the profile `full`. */
  readonly tokens_with_output: number;
}

interface ProfileCost {
  readonly profile: string;
  readonly tools: number;
  readonly tokens: number;
  readonly output_schemas: boolean;
}

/** Dearest first. The exit code: 1 for a tool that is hidden or unknown. */
export function printCost(listings: readonly ToolListing[], { name, json, lists }: CostOptions): 0 | 1 {
  const costs = listings
    .filter((listing) => name === undefined || listing.name === name)
    .map(costOf)
    .sort((left, right) => right.tokens - left.tokens || (left.name < right.name ? -1 : 1));
  if (name !== undefined && costs.length === 0) {
    showError(`No such tool: ${name}`, 'run: tool-runtime tools');
    return 1;
  }
  const profiles =
    name === undefined
      ? [...PROFILE_NAMES, ...Object.keys(lists)].map((profile) => profileCost(listings, profile, lists))
      : [];
  if (json) printJson({ tools: costs, profiles }, { compact: true });
  else for (const line of [...costs.map(toolLine), ...profiles.map(profileLine)]) printLine(line);
  return 0;
}

function costOf(listing: ToolListing): ToolCost {
  return {
    name: listing.name,
    tokens: tokensOf(toMcpTool(listing, { output: false })),
    tokens_with_output: tokensOf(toMcpTool(listing)),
  };
}

function profileCost(listings: readonly ToolListing[], name: string, lists: CostOptions['lists']): ProfileCost {
  const profile = resolveProfile({ profile: name, lists });
  const shown = presentTools(listings, profile);
  return { profile: name, tools: shown.length, tokens: tokensOf(shown), output_schemas: profile.output };
}

function toolLine({ name, tokens, tokens_with_output }: ToolCost): string {
  const whole = paint('dim', `${tokens_with_output} with output schema`);
  return `${String(tokens).padStart(6)}  ${paint('bold', name.padEnd(16))} ${whole}`;
}

function profileLine({ profile, tools, tokens, output_schemas }: ProfileCost): string {
  const what = `${tools} tools${output_schemas ? ', with output schemas' : ''}`;
  return `${String(tokens).padStart(6)}  ${paint('cyan', `profile ${profile}`.padEnd(18))} ${paint('dim', what)}`;
}

const BYTES_PER_TOKEN = 4;

/** What definitions cost a model, in the usual estimate of four bytes a token. */
export function tokensOf(tools: Tool | readonly Tool[]): number {
  return Math.ceil(Buffer.byteLength(JSON.stringify(tools)) / BYTES_PER_TOKEN);
}
