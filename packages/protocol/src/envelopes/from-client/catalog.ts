/** Every envelope that a client sends. */
export { type ApprovalAnswer, approvalAnswerSchema } from './approval-answer.ts';
export { type CancelRequest, cancelRequestSchema } from './cancel-request.ts';
export { type ChildEnd, childEndSchema } from './child-end.ts';
export { type ChildOpen, childOpenSchema } from './child-open.ts';
export { type Heartbeat, heartbeatSchema } from './heartbeat.ts';
export { type SessionAttach, sessionAttachSchema } from './session-attach.ts';
export { type ToolRequest, toolRequestSchema } from './tool-request.ts';
