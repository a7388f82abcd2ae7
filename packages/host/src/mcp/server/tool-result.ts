/**
 * A response as MCP clients want it. Half of them show the model only the structure, the other half only the text. So
 * contents are text alone, unless the client is a program; facts are text and structure, and both carry the warnings.
 */
import type { CallToolResult } from '@modelcontextprotocol/server';
import { isJsonObject, type JsonObject, type JsonValue, type ToolResponse, toToolError } from '@tool-runtime/protocol';
import { describeError } from '@tool-runtime/protocol/internal';
import type { PresentedAnswer } from '@tool-runtime/sdk';
import { artifactLinks } from './artifact-resources.ts';
import { fitData } from './fit-data.ts';

/** Turns the data of a tool into content of its own, for programs that embed a host. */
export type Present = (data: JsonValue) => Partial<CallToolResult>;

export interface ResultForm {
  readonly answer: PresentedAnswer;
  /** Bytes of structure at most; undefined: text alone. */
  readonly structureBytes: number | undefined;
  readonly present: Present | undefined;
}

/** With text and pictures it stays below the 10 MiB that official clients read as one message. */
export const MAX_STRUCTURE_BYTES = 2_500_000;

export function toToolResult(response: ToolResponse, { answer, structureBytes, present }: ResultForm): CallToolResult {
  const { text, blocks, price } = answer;
  if (!response.ok) return errorResult(response, answer);
  const links = artifactLinks(response.data).map((link) => ({ type: 'resource_link' as const, ...link }));
  const structure = structureBytes === undefined ? undefined : structureOf(response, structureBytes);
  const shownPrice = { ...price, cut: price.cut || structure?.isCut === true };
  return {
    content: [{ type: 'text', text }, ...(blocks as unknown as CallToolResult['content']), ...links],
    ...(structure?.data === undefined ? {} : { structuredContent: structure.data }),
    ...(structure !== undefined && structure.data === undefined ? { isError: true } : {}),
    ...present?.(response.data),
    _meta: { 'tool-runtime/price': shownPrice, ...warningsOf(response) },
  };
}

/** Warnings are beside the data, with those that the tool itself has. */
function structureOf({ data, warnings }: ToolResponse, maxBytes: number) {
  if (!isJsonObject(data)) return undefined;
  const own = data['warnings'];
  const notes = [...(Array.isArray(own) ? own : []), ...warnings.map(describeError)];
  return fitData(warnings.length === 0 ? data : { ...data, warnings: notes }, maxBytes);
}

/** For answers that are no calls of a tool. */
export function toDataResult(data: JsonObject): CallToolResult {
  return { content: [{ type: 'text', text: JSON.stringify(data) }], structuredContent: data };
}

export function toRefusal(thrown: unknown): CallToolResult & { isError: true } {
  const entry = toToolError(thrown).toEntry();
  return {
    content: [{ type: 'text', text: describeError(entry) }],
    _meta: { 'tool-runtime/errors': [entry as unknown as JsonObject] },
    isError: true,
  };
}

/** A refusal a model can act on: what, where, which rule, what to do instead; and the same as data. */
function errorResult(response: ToolResponse, { text, price }: PresentedAnswer): CallToolResult {
  const errors = response.errors.map((error) => ({ ...error }));
  return {
    content: [{ type: 'text', text }],
    _meta: {
      'tool-runtime/errors': errors as unknown as JsonObject[],
      'tool-runtime/price': { ...price },
      ...warningsOf(response),
    },
    isError: true,
  };
}

function warningsOf({ warnings }: ToolResponse): Record<string, JsonObject[]> {
  return warnings.length === 0 ? {} : { 'tool-runtime/warnings': warnings as unknown as JsonObject[] };
}
