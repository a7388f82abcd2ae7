/** Tools of a session for any model: list them, call them, fit their schemas to a provider. What all adapters build on. */
export {
  type ApprovalBridge,
  type ApprovalBridgeOptions,
  createApprovalBridge,
  type JudgedToolCall,
  type Judgement,
} from './approval-bridge.ts';
export { callTool, type ToolCallInput, type ToolCallResult } from './call-tool.ts';
export { type JsonSchema, listTools, type ToolDescription, type ToolHints, type ToolSelection } from './list-tools.ts';
export type { RefusedTool, StrictOption } from './offer-tools.ts';
export { restoreArgs } from './restore-args.ts';
export type { StrictProvider } from './strict-dialects.ts';
export { type StrictConversion, type StrictRefusal, strictSchema } from './strict-schema.ts';
