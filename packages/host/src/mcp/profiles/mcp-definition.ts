/**
 * One of our tools as MCP clients are told about it. Keys always come in the same order: a list that did not change is
 * the same bytes, which is what clients and model providers cache by.
 */
import type { Tool, ToolAnnotations } from '@modelcontextprotocol/server';
import type { ToolListing } from '@tool-runtime/sdk';
import { trimSchema } from './trim-schema.ts';

// As in the sdk, which is not loaded here: a client that opens a server waits for what is.
const READING_KINDS: ReadonlySet<string> = new Set(['read', 'search', 'think', 'fetch']);
const READING_LEVELS: ReadonlySet<string> = new Set(['none', 'read_only']);

export interface DefinitionOptions {
  /** Whether the schema of the answer comes along; true by default. */
  readonly output?: boolean;
}

export function toMcpTool(listing: ToolListing, { output = true }: DefinitionOptions = {}): Tool {
  const outputSchema = output ? outputSchemaOf(listing) : undefined;
  return {
    name: listing.name,
    title: listing.title,
    description: describeTool(listing),
    inputSchema: { ...trimSchema(listing.argsSchema), type: 'object' },
    ...(outputSchema === undefined ? {} : { outputSchema }),
    annotations: annotationsOf(listing),
  };
}

/** What it does, and what the policy holds against it. */
export function describeTool({ summary, policyNotes }: ToolListing): string {
  return policyNotes === undefined || policyNotes === ''
    ? sentence(summary)
    : `${sentence(summary)} ${sentence(policyNotes)}`;
}

/** By kind, effect and level: one word of a tool about itself is not enough. */
export function isReadOnlyTool({ kind, effect, sideEffectLevel }: ToolListing): boolean {
  return READING_KINDS.has(kind) && effect === 'read' && READING_LEVELS.has(sideEffectLevel);
}

/**
 * Clients of 2025 take an answer for an object or refuse the whole list. Many show a model the structure alone, so
 * warnings are in it too.
 */
function outputSchemaOf({ dataSchema }: ToolListing): Tool['outputSchema'] | undefined {
  const schema = trimSchema(dataSchema);
  if (schema['type'] !== 'object') return undefined;
  return { ...schema, properties: { warnings: WARNINGS, ...(schema['properties'] as object | undefined) } };
}

const WARNINGS = { type: 'array', items: { type: 'string' }, description: 'What the policy warns of' };

/**
 * Hints on the safe side: a tool that may lose something is destructive, and only a tool of low risk cannot. Of a read-only
 * tool the protocol asks for neither that nor idempotence.
 */
function annotationsOf(listing: ToolListing): ToolAnnotations {
  const openWorldHint = listing.sideEffectLevel === 'network' || listing.kind === 'fetch' || listing.kind === 'other';
  if (isReadOnlyTool(listing)) return { readOnlyHint: true, openWorldHint };
  return {
    readOnlyHint: false,
    destructiveHint: listing.risk !== 'low' || listing.kind !== 'edit',
    idempotentHint: listing.idempotent,
    openWorldHint,
  };
}

function sentence(text: string): string {
  return /[.!?]$/.test(text) ? text : `${text}.`;
}
