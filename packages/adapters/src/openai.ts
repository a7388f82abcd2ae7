/**
 * Tools for the OpenAI API, and the answers to its tool calls, as plain objects: no SDK is needed or loaded.
 *
 * Calls run one after the other, in the order the model wrote them: a read after a write sees what was written.
 */
import type { Session } from '@tool-runtime/sdk';
import { refusedCall, type ToolCallResult } from './call-tool.ts';
import type { JsonSchema } from './list-tools.ts';
import {
  type AdapterOptions,
  notOffered,
  type OfferedTool,
  offerTools,
  type RefusedTool,
  type StrictOption,
} from './offer-tools.ts';
import { parseArguments } from './parse-arguments.ts';

export type OpenAIApi = 'responses' | 'chat';

export interface OpenAIOptions<Api extends OpenAIApi = OpenAIApi> extends AdapterOptions {
  readonly api: Api;
  readonly strict?: StrictOption;
}

export interface OpenAIFunction {
  name: string;
  description: string;
  parameters: { [name: string]: unknown };
  strict: boolean;
}

export interface OpenAIToolShapes {
  responses: { type: 'function' } & OpenAIFunction;
  chat: { type: 'function'; function: OpenAIFunction };
}

export interface OpenAIAnswerShapes {
  responses: { type: 'function_call_output'; call_id: string; output: string };
  chat: { role: 'tool'; tool_call_id: string; content: string };
}

export interface OpenAIToolSet<Api extends OpenAIApi = OpenAIApi> {
  readonly api: Api;
  /** For `tools` of the request. */
  readonly tools: OpenAIToolShapes[Api][];
  /** Tools with the full schema although strict was wanted, and why. */
  readonly refused: readonly RefusedTool[];
  /** By name, for `handleOpenAIToolCalls`. */
  readonly offered: ReadonlyMap<string, OfferedTool>;
}

export function toOpenAITools<Api extends OpenAIApi>(
  session: Session,
  options: OpenAIOptions<Api>,
): OpenAIToolSet<Api> {
  const { api, strict = false } = options;
  const { tools, refused } = offerTools(session, options, { provider: 'openai', dialect: 'openai', strict });
  return {
    api,
    tools: tools.map((tool) => toTool(api, tool)),
    refused,
    offered: new Map(tools.map((tool) => [tool.name, tool])),
  };
}

function toTool<Api extends OpenAIApi>(api: Api, tool: OfferedTool): OpenAIToolShapes[Api] {
  const { name, description, parameters, isStrict } = tool;
  const definition: OpenAIFunction = { name, description, parameters: { ...parameters }, strict: isStrict };
  const shapes: OpenAIToolShapes = {
    responses: { type: 'function', ...definition },
    chat: { type: 'function', function: definition },
  };
  return shapes[api];
}

/**
 * Runs the tool calls among these items (`response.output`, or `message.tool_calls`) and returns what to append to the
 * conversation. Items that are no calls of functions are passed over.
 */
export async function handleOpenAIToolCalls<Api extends OpenAIApi>(
  set: OpenAIToolSet<Api>,
  items: readonly unknown[],
  options: { readonly signal?: AbortSignal } = {},
): Promise<OpenAIAnswerShapes[Api][]> {
  const answers: OpenAIAnswerShapes[Api][] = [];
  for (const item of items) {
    const call = readCall(item as JsonSchema);
    if (call === undefined) continue;
    const { text } = await run(set, call, options.signal);
    const shapes: OpenAIAnswerShapes = {
      responses: { type: 'function_call_output', call_id: call.id, output: text },
      chat: { role: 'tool', tool_call_id: call.id, content: text },
    };
    answers.push(shapes[set.api]);
  }
  return answers;
}

interface FunctionCall {
  readonly id: string;
  readonly name: string;
  readonly text: string;
}

function readCall(item: JsonSchema): FunctionCall | undefined {
  const isChat = item['type'] === 'function';
  if (!isChat && item['type'] !== 'function_call') return undefined;
  const { name, arguments: text } = (isChat ? item['function'] : item) as JsonSchema;
  return { id: String(item[isChat ? 'id' : 'call_id'] ?? ''), name: String(name), text: String(text ?? '') };
}

async function run(
  set: OpenAIToolSet,
  { id, name, text }: FunctionCall,
  signal?: AbortSignal,
): Promise<ToolCallResult> {
  const tool = set.offered.get(name);
  if (tool === undefined) return notOffered(name);
  const parsed = parseArguments(text);
  return parsed.ok ? tool.run(parsed.args, { callId: id, signal }) : refusedCall([parsed.error]);
}
