/**
 * tool_search: finds tools that are not in the client's list.
 *
 * Words of the question against words of name, title, summary and arguments. A word also fits a longer or shorter form
 * of itself (`renaming`, `rename`). No index: there are a hundred tools, and a search takes well below a millisecond.
 */
import type { Tool } from '@modelcontextprotocol/server';
import { type JsonObject, type JsonValue, ToolError } from '@tool-runtime/protocol';
import type { ToolListing } from '@tool-runtime/sdk';
import { z } from 'zod';
import { CALL_TOOL_NAME } from './call-tool-definition.ts';
import { describeTool } from './mcp-definition.ts';
import { trimSchema } from './trim-schema.ts';

export const SEARCH_TOOL_NAME = 'tool_search';

const USUAL_LIMIT = 5;
const MAX_LIMIT = 20;
/**
 * An answer costs its tokens in every request that follows, so only the best ones come with their schemas, as long as
 * these stay this short together; the first always does. The caller takes one of them, or asks again by name.
 */
const SCHEMA_CHARS = 2500;
const MAX_NAMES = 200;
const HOW_TO_CALL = `Call a tool by its name. If it is not in your list, call ${CALL_TOOL_NAME} with its name and arguments; both take the same way through policy and journal.`;

/** They fit every summary and tell nothing. */
const EMPTY_WORDS = new Set(
  'a an and all any at by do for from how i in is it my of on or that the this to up with'.split(' '),
);

export const SEARCH_TOOL: Tool = {
  name: SEARCH_TOOL_NAME,
  title: 'Find tools',
  description: 'Find further tools by what they do (git history, moving files, renaming symbols, HTTP, jobs).',
  inputSchema: {
    type: 'object',
    properties: {
      query: { type: 'string', description: 'Words for the task, or a tool name' },
      limit: { type: 'integer', minimum: 1, maximum: MAX_LIMIT, default: USUAL_LIMIT },
    },
    required: ['query'],
    additionalProperties: false,
  },
  annotations: { readOnlyHint: true, openWorldHint: false },
};

export interface SearchAnswer {
  readonly tools: readonly JsonObject[];
  /** How many fitted, shown or not. */
  readonly matches: number;
  readonly how_to_call: string;
  /** All names, when nothing fitted. */
  readonly names?: readonly string[];
}

const searchArgs = z.strictObject({
  query: z.string().min(1).max(400),
  limit: z.int().min(1).max(MAX_LIMIT).default(USUAL_LIMIT),
});

/** Checks the arguments of a tools/call; throws E_VALIDATION_FAIL. */
export function runToolSearch(listings: readonly ToolListing[], args: unknown, isListed?: IsListed): SearchAnswer {
  const read = searchArgs.safeParse(args);
  if (!read.success) {
    throw new ToolError(
      'E_VALIDATION_FAIL',
      `Arguments do not fit ${SEARCH_TOOL_NAME}: ${z.prettifyError(read.error)}`,
      {
        details: { next: `give query (text) and optionally limit (1 to ${MAX_LIMIT})` },
      },
    );
  }
  return searchTools(listings, read.data.query, { limit: read.data.limit, isListed });
}

/** Whether the client has the definition already. */
type IsListed = (listing: ToolListing) => boolean;

export function searchTools(
  listings: readonly ToolListing[],
  query: string,
  { limit, isListed = () => false }: { readonly limit: number; readonly isListed?: IsListed | undefined },
): SearchAnswer {
  const asked = wordsOf(query);
  const telling = asked.filter((word) => !EMPTY_WORDS.has(word));
  const words = telling.length === 0 ? asked : telling;
  const ranked = listings
    .map((listing) => ({ listing, ...rate(listing, words, query.trim().toLowerCase()) }))
    .filter(({ fitting }) => fitting > 0)
    .sort(
      (left, right) =>
        right.fitting - left.fitting || right.score - left.score || (left.listing.name < right.listing.name ? -1 : 1),
    );
  const best = ranked.map(({ listing }) => listing);
  return {
    tools: presented(
      best.filter((listing) => !isListed(listing)).slice(0, limit),
      best.filter(isListed).slice(0, limit),
    ),
    matches: ranked.length,
    how_to_call: HOW_TO_CALL,
    ...(ranked.length === 0
      ? {
          names: listings
            .map(({ name }) => name)
            .sort()
            .slice(0, MAX_NAMES),
        }
      : {}),
  };
}

/** Tools the client has in its list are named after the others, and no more: it knows them. */
function presented(unlisted: readonly ToolListing[], listed: readonly ToolListing[]): readonly JsonObject[] {
  let room = SCHEMA_CHARS;
  const found = unlisted.map((listing, place): JsonObject => {
    const schema = trimSchema(listing.argsSchema) as JsonValue;
    const size = JSON.stringify(schema).length;
    if (place > 0 && size > room) return { name: listing.name, description: listing.summary };
    room -= size;
    return { name: listing.name, description: describeTool(listing), input_schema: schema };
  });
  return [...found, ...listed.map(({ name }) => ({ name, in_your_list: true }))];
}

interface Rating {
  /** Words of the question that fit anywhere. */
  readonly fitting: number;
  readonly score: number;
}

function rate(listing: ToolListing, words: readonly string[], query: string): Rating {
  if (listing.name.toLowerCase() === query) return { fitting: Number.POSITIVE_INFINITY, score: 0 };
  const fields: readonly (readonly [number, readonly string[]])[] = [
    [5, wordsOf(listing.name)],
    [3, wordsOf(listing.title)],
    [2, wordsOf(`${listing.summary} ${listing.category}`)],
    [1, wordsOf(`${listing.policyNotes ?? ''} ${argumentNames(listing)}`)],
  ];
  const found = words.map((word) =>
    fields.reduce((sum, [weight, field]) => sum + (field.some((one) => isSameWord(one, word)) ? weight : 0), 0),
  );
  return { fitting: found.filter((score) => score > 0).length, score: found.reduce((sum, score) => sum + score, 0) };
}

function argumentNames({ argsSchema }: ToolListing): string {
  const { properties } = argsSchema as { readonly properties?: object };
  return Object.keys(properties ?? {}).join(' ');
}

function wordsOf(text: string): readonly string[] {
  return [...new Set(text.toLowerCase().match(/[\p{L}\p{N}]+/gu) ?? [])];
}

/** Four letters in common make `rename` and `renaming` one word, and keep `a` from fitting everything. */
function isSameWord(left: string, right: string): boolean {
  if (left === right) return true;
  const shorter = Math.min(left.length, right.length);
  if (shorter < 4) return false;
  const stem = Math.max(4, shorter - 1);
  return left.slice(0, stem) === right.slice(0, stem);
}
