/**
 * AI SDK: a session's tools as a `ToolSet`, and its approvals as `toolApproval`.
 *
 * The SDK leaves the check against raw JSON Schemas to its caller; the runtime does it, so that a bad call is answered
 * and recorded like any other. A refusal is the tool's output, shown to the model as an error text; nothing is thrown.
 */
import type { Session } from '@tool-runtime/sdk';
import { dynamicTool, jsonSchema, type ToolSet } from 'ai';
import type { ApprovalBridge } from './approval-bridge.ts';
import type { ToolCallResult } from './call-tool.ts';
import { type AdapterOptions, type OfferedTool, offerTools } from './offer-tools.ts';

export function toAISDKTools(session: Session, options: AdapterOptions = {}): ToolSet {
  const { tools } = offerTools(session, options, { provider: 'ai-sdk' });
  return Object.fromEntries(tools.map((tool) => [tool.name, toDynamicTool(tool)]));
}

function toDynamicTool(tool: OfferedTool) {
  return dynamicTool({
    title: tool.annotations.title,
    description: tool.description,
    inputSchema: jsonSchema(tool.parameters),
    execute: (input, { toolCallId, abortSignal }) => tool.run(input, { callId: toolCallId, signal: abortSignal }),
    toModelOutput({ output }) {
      const { ok, text } = output as ToolCallResult;
      return { type: ok ? 'text' : 'error-text', value: text };
    },
  });
}

export type AISDKApproval = (options: {
  readonly toolCall: { readonly toolName: string; readonly toolCallId: string; readonly input: unknown };
}) => Promise<{ type: 'not-applicable' } | { type: 'user-approval'; reason?: string }>;

/**
 * For `toolApproval` of `generateText` and `streamText`: asks the user where the policy asks. What the policy denies is
 * let through to the tool, whose refusal tells the model why.
 */
export function aiSdkApproval(session: Session, approvals: ApprovalBridge): AISDKApproval {
  const names = new Set(session.tools().map((tool) => tool.name));
  return async ({ toolCall }) => {
    const { toolName: name, toolCallId: callId, input: args } = toolCall;
    if (!names.has(name)) return { type: 'not-applicable' };
    const { verdict, reason } = await approvals.judge(session, { name, args, callId });
    if (verdict !== 'ask') return { type: 'not-applicable' };
    return { type: 'user-approval', ...(reason === undefined ? {} : { reason }) };
  };
}
