/** Run and type-checked beside the installed packages and all agent frameworks: what each adapter gives fits its own. */
import assert from 'node:assert/strict';
import type { DynamicStructuredTool } from '@langchain/core/tools';
import type { FunctionTool } from '@openai/agents';
import { aiSdkApproval, toAISDKTools } from '@tool-runtime/adapters/ai-sdk';
import { type AnthropicToolSet, toAnthropicRunnableTools, toAnthropicTools } from '@tool-runtime/adapters/anthropic';
import { createApprovalBridge } from '@tool-runtime/adapters/generic';
import { toLangChainTools } from '@tool-runtime/adapters/langchain';
import { type MastraTools, toMastraTools } from '@tool-runtime/adapters/mastra';
import { toOpenAIAgentsTools } from '@tool-runtime/adapters/openai-agents';
import { openScratchRuntime } from '@tool-runtime/sdk/testing';
import type { ToolSet } from 'ai';

const { session, dispose } = await openScratchRuntime();
const aiSdk: ToolSet = toAISDKTools(session);
const anthropic: AnthropicToolSet = toAnthropicTools(session);
const agents: FunctionTool[] = toOpenAIAgentsTools(session);
const langChain: DynamicStructuredTool[] = toLangChainTools(session);
const mastra: MastraTools = toMastraTools(session);
const counts = [Object.keys(aiSdk), anthropic.tools, agents, langChain, Object.keys(mastra)].map((list) => list.length);
assert.deepEqual(new Set(counts), new Set([session.tools().length]));
assert.equal(typeof aiSdkApproval(session, createApprovalBridge()), 'function');
assert.equal(toAnthropicRunnableTools(session).length, session.tools().length);
await dispose();
