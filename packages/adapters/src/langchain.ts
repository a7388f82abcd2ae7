/**
 * LangChain: a session's tools as structured tools that answer with text for the model and the data as artifact.
 *
 * LangChain checks arguments itself and throws without saying what is wrong. Such a call goes to the runtime all the
 * same, which refuses it on record and in words.
 */
import { ToolMessage } from '@langchain/core/messages';
import { DynamicStructuredTool, ToolInputParsingException } from '@langchain/core/tools';
import type { Session } from '@tool-runtime/sdk';
import type { ToolCallResult } from './call-tool.ts';
import type { JsonSchema } from './list-tools.ts';
import { type AdapterOptions, type OfferedTool, offerTools } from './offer-tools.ts';

export function toLangChainTools(session: Session, options: AdapterOptions = {}): DynamicStructuredTool[] {
  const { tools } = offerTools(session, options, { provider: 'langchain' });
  return tools.map((tool) => new SessionTool(tool));
}

interface ToolCallConfig {
  readonly toolCall?: { readonly id?: string | undefined };
  readonly signal?: AbortSignal;
}

class SessionTool extends DynamicStructuredTool {
  readonly #offered: OfferedTool;

  constructor(offered: OfferedTool) {
    super({
      name: offered.name,
      description: offered.description,
      schema: offered.parameters,
      responseFormat: 'content_and_artifact',
      func: (args: unknown, _manager: unknown, config?: unknown) => answer(offered, args, config as ToolCallConfig),
    });
    this.#offered = offered;
  }

  override async call(...given: Parameters<DynamicStructuredTool['call']>) {
    try {
      return await super.call(...given);
    } catch (thrown) {
      if (!(thrown instanceof ToolInputParsingException)) throw thrown;
      const [input, config] = given;
      const { args, id } = readInput(input, config as ToolCallConfig | undefined);
      const [content] = await answer(this.#offered, args, { ...config, toolCall: { id } } as ToolCallConfig);
      return content;
    }
  }
}

function readInput(input: unknown, config?: ToolCallConfig): { args: unknown; id: string | undefined } {
  const call = input as JsonSchema;
  const isCall = typeof call === 'object' && call !== null && call['type'] === 'tool_call' && 'args' in call;
  return isCall
    ? { args: call['args'], id: typeof call['id'] === 'string' ? call['id'] : undefined }
    : { args: input, id: config?.toolCall?.id };
}

/** A refusal is passed on as a finished message, because only that can carry the status. */
async function answer(offered: OfferedTool, args: unknown, config?: ToolCallConfig): Promise<[unknown, unknown]> {
  const id = config?.toolCall?.id;
  const result = await offered.run(args, { callId: id, signal: config?.signal });
  if (result.ok || id === undefined) return [result.text, result.structured];
  return [refusal(offered.name, id, result), undefined];
}

function refusal(name: string, id: string, { text, error }: ToolCallResult): ToolMessage {
  return new ToolMessage({ name, tool_call_id: id, status: 'error', content: text, artifact: error });
}
