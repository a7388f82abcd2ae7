/**
 * OpenAI Agents: a session's tools as function tools, strict where asked and possible.
 *
 * `needsApproval` asks the policy; the interruption it causes is answered by the run's owner. The framework's types want
 * open objects of tools that are not strict; ours stay closed, which is what the API is sent either way.
 */
import { type FunctionTool, tool } from '@openai/agents';
import type { Session } from '@tool-runtime/sdk';
import { type AdapterOptions, type OfferedTool, offerTools, type StrictOption } from './offer-tools.ts';

export interface OpenAIAgentsOptions extends AdapterOptions {
  readonly strict?: StrictOption;
}

export function toOpenAIAgentsTools(session: Session, options: OpenAIAgentsOptions = {}): FunctionTool[] {
  const { strict = false } = options;
  const { tools } = offerTools(session, options, { provider: 'openai-agents', dialect: 'openai', strict });
  const isAsked = options.approvals !== undefined;
  return tools.map((offered) => toFunctionTool(offered, { isAsked }));
}

interface AgentCallDetails {
  readonly toolCall?: { readonly callId?: string };
  readonly signal?: AbortSignal;
}

function toFunctionTool(offered: OfferedTool, { isAsked }: { readonly isAsked: boolean }): FunctionTool {
  const needsApproval = (_run: unknown, input: unknown, callId?: string) => offered.needsApproval(input, callId);
  const { name, description, parameters, isStrict } = offered;
  const definition = {
    name,
    description,
    parameters,
    strict: isStrict,
    // With a function the framework asks a person even about arguments that are no JSON.
    ...(isAsked ? { needsApproval } : {}),
    async execute(input: unknown, _run: unknown, details?: AgentCallDetails) {
      const { text } = await offered.run(input, { callId: details?.toolCall?.callId, signal: details?.signal });
      return text;
    },
  };
  return tool(definition as unknown as Parameters<typeof tool>[0]) as unknown as FunctionTool;
}
