/**
 * Anthropic: tool definitions for `messages.create` with the answers to `tool_use` blocks, and tools for `toolRunner`.
 *
 * A refusal becomes a result with `is_error`. Strict is off unless asked for: all strict schemas of a request are
 * compiled into one grammar, and a long list of tools is too large for it.
 */
import { ToolError as RunnerError } from '@anthropic-ai/sdk/lib/tools/ToolError';
import type { Session } from '@tool-runtime/sdk';
import type { JsonSchema } from './list-tools.ts';
import {
  type AdapterOptions,
  notOffered,
  type OfferedTool,
  offerTools,
  type RefusedTool,
  type StrictOption,
} from './offer-tools.ts';

export interface AnthropicOptions extends AdapterOptions {
  readonly strict?: StrictOption;
}

export interface AnthropicTool {
  name: string;
  description: string;
  input_schema: { type: 'object'; [keyword: string]: unknown };
  strict?: boolean;
}

export interface AnthropicToolSet {
  /** For `tools` of the request. */
  readonly tools: AnthropicTool[];
  /** Tools with the full schema although strict was wanted, and why. */
  readonly refused: readonly RefusedTool[];
  /** By name, for `handleAnthropicToolUses`. */
  readonly offered: ReadonlyMap<string, OfferedTool>;
}

export interface AnthropicToolResult {
  type: 'tool_result';
  tool_use_id: string;
  content: string;
  is_error?: true;
}

/** A tool of `client.beta.messages.toolRunner`. */
export interface AnthropicRunnableTool extends AnthropicTool {
  type: 'custom';
  parse(content: unknown): unknown;
  run(args: unknown, context?: RunContext): Promise<string>;
}

interface RunContext {
  readonly toolUse?: { readonly id: string };
  readonly signal?: AbortSignal | null | undefined;
}

export function toAnthropicTools(session: Session, options: AnthropicOptions = {}): AnthropicToolSet {
  const { tools, refused } = offer(session, options);
  return { tools: tools.map(toTool), refused, offered: new Map(tools.map((tool) => [tool.name, tool])) };
}

function offer(session: Session, options: AnthropicOptions) {
  const { strict = false } = options;
  return offerTools(session, options, { provider: 'anthropic', dialect: 'anthropic', strict });
}

function toTool({ name, description, parameters, isStrict }: OfferedTool): AnthropicTool {
  const schema = { ...parameters, type: 'object' as const };
  return { name, description, input_schema: schema, ...(isStrict ? { strict: true } : {}) };
}

/** Runs the `tool_use` blocks of a message's content, one after the other; other blocks are passed over. */
export async function handleAnthropicToolUses(
  set: AnthropicToolSet,
  content: readonly unknown[],
  options: { readonly signal?: AbortSignal } = {},
): Promise<AnthropicToolResult[]> {
  const results: AnthropicToolResult[] = [];
  for (const block of content as readonly JsonSchema[]) {
    if (block['type'] !== 'tool_use') continue;
    const [id, name] = [String(block['id']), String(block['name'])];
    const tool = set.offered.get(name);
    const answer = await (tool?.run(block['input'], { callId: id, signal: options.signal }) ?? notOffered(name));
    results.push({
      type: 'tool_result',
      tool_use_id: id,
      content: answer.text,
      ...(answer.ok ? {} : { is_error: true }),
    });
  }
  return results;
}

export function toAnthropicRunnableTools(session: Session, options: AnthropicOptions = {}): AnthropicRunnableTool[] {
  return offer(session, options).tools.map((tool) => ({
    type: 'custom',
    ...toTool(tool),
    parse: (content) => content,
    async run(args, context) {
      const answer = await tool.run(args, { callId: context?.toolUse?.id, signal: context?.signal });
      // The runner marks a result as an error only when its own error class is thrown.
      if (!answer.ok) throw new RunnerError(answer.text);
      return answer.text;
    },
  }));
}
