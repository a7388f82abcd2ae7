/**
 * A response as MCP clients want it. Half of them show the model only the structure, the other half only the text: both
 * say the same, and both are bounded.
 */
import type { CallToolResult } from '@modelcontextprotocol/server';
import type { JsonObject, JsonValue, ToolResponse } from '@tool-runtime/protocol';
import { toToolError } from '@tool-runtime/protocol';
import { artifactLinks } from './artifact-resources.ts';
import { describeError } from './describe-error.ts';

/** Turns the data of a tool into content of its own, such as the picture a foreign server sent. */
export type Present = (data: JsonValue) => Partial<CallToolResult>;

/** About 64,000 tokens: more than any model should be sent at once. */
const MAX_TEXT = 256 * 1024;

/** Data as it is shown. The text is the structure, written out; without one the text stands alone. */
export interface ShownData {
  readonly text: string;
  readonly structured: JsonObject | undefined;
}

export function toToolResult(response: ToolResponse, present?: Present): CallToolResult {
  if (!response.ok) return toErrorResult(response);
  const { text, structured } = showData(response.data);
  const links = artifactLinks(response.data).map((link) => ({ type: 'resource_link' as const, ...link }));
  return {
    content: [{ type: 'text', text }, ...links],
    ...(structured === undefined ? {} : { structuredContent: structured }),
    ...present?.(response.data),
    ...metaOf(response),
  };
}

/** What does not fit is cut, and says so. */
export function showData(data: JsonValue): ShownData {
  if (!isTooLong(data)) {
    const text = JSON.stringify(data);
    if (text.length <= MAX_TEXT) return { text, structured: isObject(data) ? data : undefined };
  }
  const cut = cutStrings(data, MAX_TEXT / 2);
  const shown = JSON.stringify(cut);
  if (shown.length <= MAX_TEXT && isObject(cut)) return { text: shown, structured: cut };
  const text = JSON.stringify(data);
  const note = `\n[cut: ${text.length} characters, ask for less at once]`;
  return { text: `${text.slice(0, MAX_TEXT)}${note}`, structured: undefined };
}

/** Known without writing it out, which takes longest for what is too long. */
function isTooLong(data: JsonValue): boolean {
  if (!isObject(data)) return false;
  let length = 0;
  for (const value of Object.values(data)) if (typeof value === 'string') length += value.length;
  return length > MAX_TEXT;
}

/** Data of a tool is JSON, checked where it was made. */
function isObject(data: JsonValue): data is JsonObject {
  return typeof data === 'object' && data !== null && !Array.isArray(data);
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

/** Shortens the longest strings of an object until the rest fits. */
function cutStrings(data: JsonValue, room: number): JsonValue {
  if (!isObject(data)) return data;
  const entries = Object.entries(data).map(([name, value]): [string, JsonValue] => {
    if (typeof value !== 'string' || value.length <= room) return [name, value];
    return [name, `${value.slice(0, room)}\n[cut: ${value.length - room} more characters]`];
  });
  return { ...Object.fromEntries(entries), truncated: true };
}

/** A refusal a model can act on: what, where, which rule, what to do instead; and the same as data. */
function toErrorResult(response: ToolResponse): CallToolResult {
  const errors = response.errors.map((error) => ({ ...error }));
  return {
    content: [{ type: 'text', text: response.errors.map(describeError).join('\n') }],
    _meta: { 'tool-runtime/errors': errors as unknown as JsonObject[], ...warningsOf(response) },
    isError: true,
  };
}

function metaOf(response: ToolResponse): Pick<CallToolResult, '_meta'> {
  return response.warnings.length === 0 ? {} : { _meta: warningsOf(response) };
}

function warningsOf({ warnings }: ToolResponse): Record<string, JsonObject[]> {
  return warnings.length === 0 ? {} : { 'tool-runtime/warnings': warnings as unknown as JsonObject[] };
}
