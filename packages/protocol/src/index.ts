/** Public surface of the protocol package. */
export type { BackoffOptions } from './client/backoff.ts';
export {
  type ConnectToHostOptions,
  connectToHost,
  type HostChildSession,
  type HostSession,
} from './client/connect-to-host.ts';
export type { Connect, Connection } from './client/connection.ts';
export type { EventsOptions } from './client/event-listeners.ts';
export type { ByteReader, FetchAnswer, FetchInit, FetchLike } from './client/fetch-like.ts';
export {
  type CallState,
  createHostClient,
  type HostClient,
  type HostClientOptions,
} from './client/host-client.ts';
export { type HttpConnectionOptions, httpConnection } from './client/http-connection.ts';
export { type LineConnectionOptions, type LineWriter, lineConnection } from './client/line-connection.ts';
export type { NewSession, ReconnectOptions } from './client/reconnect-options.ts';
export { reconnecting } from './client/reconnecting.ts';
export type { RetryOptions } from './client/retry-call.ts';
export { createToolClient } from './client/tool-client.ts';
export type { ClientCallOptions, ToolClient, ToolClientOptions } from './client/tool-client-interface.ts';
export type { LooseTools, ToolMap, ToolResponseWith, ToolSignature } from './client/tool-map.ts';
export {
  type SocketEvent,
  type SocketLike,
  WEB_SOCKET_PROTOCOL,
  type WebSocketConnectionOptions,
  webSocketConnection,
} from './client/web-socket-connection.ts';
export { type ApprovalAnswer, approvalAnswerSchema } from './envelopes/from-client/approval-answer.ts';
export { type CancelRequest, cancelRequestSchema } from './envelopes/from-client/cancel-request.ts';
export { type ChildAck, childAckSchema } from './envelopes/from-host/child-ack.ts';
export { type ChildEnd, childEndSchema } from './envelopes/from-client/child-end.ts';
export { type ChildEnded, childEndedSchema } from './envelopes/from-host/child-ended.ts';
export { type ChildOpen, childOpenSchema } from './envelopes/from-client/child-open.ts';
export {
  type ChildOpened,
  childOpenedSchema,
  type DetachChildBody,
  detachChildSchema,
  type OpenChildBody,
  openChildSchema,
  type SessionUsage,
  usageSchema,
} from './envelopes/children.ts';
export { type ClientMessage, clientMessageSchema } from './envelopes/client-message.ts';
export { errorEntrySchema } from './envelopes/error-entry.ts';
export { type ErrorMessage, errorMessageSchema } from './envelopes/from-host/error-message.ts';
export { type EventMessage, eventMessageSchema } from './envelopes/from-host/event-message.ts';
export { type Heartbeat, heartbeatSchema } from './envelopes/from-client/heartbeat.ts';
export { idSchema } from './envelopes/id.ts';
export { isJsonObject, isJsonValue, jsonObjectSchema, jsonValueSchema } from './envelopes/json.ts';
export { type ParsedMessage, parseClientMessage, parseServerMessage } from './envelopes/parse-envelope.ts';
export { createProgress, type Progress } from './envelopes/progress.ts';
export { readIdOfEnds } from './envelopes/read-request-id.ts';
export { type ServerMessage, serverMessageSchema } from './envelopes/server-message.ts';
export { type SessionAck, sessionAckSchema } from './envelopes/from-host/session-ack.ts';
export { type SessionAttach, sessionAttachSchema } from './envelopes/from-client/session-attach.ts';
export {
  type OpenSessionBody,
  openSessionSchema,
  type SessionInfo,
  type SessionOpened,
  sessionInfoSchema,
  sessionOpenedSchema,
} from './envelopes/sessions.ts';
export { timestampSchema } from './envelopes/timestamp.ts';
export { type ToolRequest, toolRequestSchema } from './envelopes/from-client/tool-request.ts';
export { type ToolResponse, toolResponseSchema } from './envelopes/from-host/tool-response.ts';
export {
  type AnswerApprovalBody,
  type ApprovalAnswered,
  answerApprovalSchema,
  approvalAnsweredSchema,
  type PendingApproval,
  pendingApprovalSchema,
} from './http/approvals.ts';
export {
  type CoordinatorBudget,
  type CoordinatorCallBody,
  type CoordinatorPlanBody,
  type CoordinatorSpendBody,
  type CoordinatorVerdict,
  coordinatorBudgetSchema,
  coordinatorCallSchema,
  coordinatorPlanSchema,
  coordinatorSpendSchema,
  coordinatorVerdictSchema,
} from './http/coordinator.ts';
export {
  MAX_PLAN_NOTE_LENGTH,
  MAX_PLAN_STEPS,
  type PlanProposal,
  type PlanStepVerdict,
  type PlanVerdict,
  planProposalSchema,
  planVerdictSchema,
} from './http/plans.ts';
export { SCOPES, type Scope, scopeSchema } from './http/scopes.ts';
export { callStateSchema, type HostStatus, hostStatusSchema } from './http/status.ts';
export { type ToolList, toolListSchema } from './http/tools.ts';
export {
  bodySchemas,
  describeSchemas,
  type EnvelopeName,
  envelopeSchemas,
  type SchemaDescriptions,
} from './json-schemas.ts';
export { describeIssues, type FieldIssue, type IssueDescription } from './primitives/describe-issues.ts';
export { ERROR_GUIDE, type ErrorAdvice } from './primitives/error-guide.ts';
export {
  ERROR_CODES,
  type ErrorCode,
  type ErrorEntry,
  isErrorCode,
  isToolError,
  type JsonObject,
  type JsonValue,
  ToolError,
  type ToolErrorOptions,
  toToolError,
} from './primitives/errors.ts';
export { isPrintableId, MAX_ID_BYTES } from './primitives/printable-id.ts';
export {
  DEFAULT_MAX_BYTES,
  DEFAULT_MAX_DEPTH,
  type ScanFault,
  type ScanLimits,
  scanJson,
} from './primitives/scan-json.ts';
export { utf8Length } from './primitives/utf8-length.ts';
export { PROTOCOL_VERSION } from './primitives/version.ts';
