/** Public surface of the protocol package: envelopes, HTTP bodies and errors. Of the client only the types: see `client.ts`. */
export type { BackoffOptions, NewSession, ReconnectOptions } from './client/backoff.ts';
export type { ConnectToHostOptions, HostChildSession, HostSession } from './client/connect-to-host.ts';
export type { Connect, Connection } from './client/connection.ts';
export type { EventsOptions } from './client/event-listeners.ts';
export type { CallState, HostClient, HostClientOptions } from './client/host-client.ts';
export type { ByteReader, FetchAnswer, FetchInit, FetchLike } from './client/host-wire.ts';
export type { HttpConnectionOptions } from './client/http-connection.ts';
export type { LineConnectionOptions, LineWriter } from './client/line-connection.ts';
export type { RetryOptions } from './client/retry-call.ts';
export type {
  ClientBatchCall,
  ClientBatchOptions,
  ClientCallOptions,
  LooseTools,
  ToolClient,
  ToolClientOptions,
  ToolMap,
  ToolResponseWith,
  ToolSignature,
} from './client/tool-client-interface.ts';
export type { SocketEvent, SocketLike, WebSocketConnectionOptions } from './client/web-socket-connection.ts';
export {
  type ChildOpened,
  childOpenedSchema,
  type DetachChildBody,
  detachChildSchema,
  type OpenChildBody,
  openChildSchema,
  type ReportChildBody,
  reportChildSchema,
  type SessionUsage,
  type TakeChildBody,
  takeChildSchema,
  usageSchema,
} from './envelopes/children.ts';
export { type ClientMessage, clientMessageSchema } from './envelopes/client-message.ts';
export {
  type BatchStrategy,
  errorEntrySchema,
  idSchema,
  MAX_BATCH_CALLS,
  timestampSchema,
} from './envelopes/fields.ts';
export * from './envelopes/from-client/catalog.ts';
export * from './envelopes/from-host/catalog.ts';
export { jsonObjectSchema, jsonValueSchema } from './envelopes/json.ts';
export { type ParsedMessage, parseClientMessage, parseServerMessage } from './envelopes/parse-envelope.ts';
export { createProgress, type Progress } from './envelopes/progress.ts';
export { readIdOfEnds } from './envelopes/read-request-id.ts';
export { type ServerMessage, serverMessageSchema } from './envelopes/server-message.ts';
export {
  type OpenSessionBody,
  openSessionSchema,
  type SessionInfo,
  type SessionOpened,
  sessionInfoSchema,
  sessionOpenedSchema,
} from './envelopes/sessions.ts';
export {
  type AnswerApprovalBody,
  type ApprovalAnswered,
  answerApprovalSchema,
  approvalAnsweredSchema,
  type PendingApproval,
  pendingApprovalSchema,
} from './http/approvals.ts';
export {
  CONSOLE_ROLES,
  type ConsoleLink,
  type ConsoleLinkBody,
  type ConsoleRole,
  type ConsoleSession,
  consoleLinkBodySchema,
  consoleLinkSchema,
  consoleSessionSchema,
  type SignedIn,
  signedInSchema,
  signInSchema,
} from './http/console.ts';
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
export { type FleetState, fleetStateSchema } from './http/fleet.ts';
export {
  callStateSchema,
  type HostStatus,
  hostStatusSchema,
  SCOPES,
  type Scope,
  scopeSchema,
  type ToolList,
  toolListSchema,
} from './http/host-info.ts';
export {
  type CallsChanged,
  callsChangedSchema,
  type MetricsHistory,
  metricsHistorySchema,
  type RegistryView,
  registryViewSchema,
  type ToolFigures,
} from './http/insight.ts';
export {
  type ApproveToolsBody,
  approveToolsSchema,
  type MountedServer,
  type MountedServers,
  mountedServerSchema,
  mountedServersSchema,
  refreshServerSchema,
  type ToolsApproved,
  toolsApprovedSchema,
  type WaitingTools,
  waitingToolsSchema,
} from './http/mcp-servers.ts';
export {
  type PlanProposal,
  type PlanStepVerdict,
  type PlanVerdict,
  planProposalSchema,
  planVerdictSchema,
} from './http/plans.ts';
export {
  type ChangedCall,
  type CheckBody,
  checkBodySchema,
  type DiffBody,
  diffBodySchema,
  type EffectChange,
  type ExampleResult,
  type ExplainBody,
  explainBodySchema,
  explanationSchema,
  type GateReport,
  type PolicyCheck,
  type PolicyDiff,
  type PolicyExplanation,
  type PolicySimulation,
  type PolicySuggestion,
  policyCheckSchema,
  policyDiffSchema,
  type RegistryChange,
  type RegistryEdit,
  type SimulateBody,
  type SuggestBody,
  simulateBodySchema,
  simulationSchema,
  suggestBodySchema,
  suggestionSchema,
} from './http/policy.ts';
export {
  type CallChange,
  type CallDetail,
  type CallPage,
  type CallRow,
  callChangeSchema,
  callDetailSchema,
  callPageSchema,
  callRowSchema,
  type Families,
  type FamilyMember,
  familiesSchema,
  type JournalState,
  type JournalVerdict,
  journalStateSchema,
  journalVerdictSchema,
  type RecordFilter,
  type RecordPage,
  type RecordQuery,
  type RecordRow,
  recordFilterShape,
  recordPageSchema,
  recordQuerySchema,
  type VerifyBody,
  verifyBodySchema,
} from './http/records.ts';
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
export { isJsonObject, isJsonValue } from './primitives/is-json.ts';
export {
  isPrintableId,
  MAX_ID_BYTES,
  MAX_PLAN_NOTE_LENGTH,
  MAX_PLAN_STEPS,
  utf8Length,
} from './primitives/safe-text.ts';
export {
  DEFAULT_MAX_BYTES,
  DEFAULT_MAX_DEPTH,
  type ScanFault,
  type ScanLimits,
  scanJson,
} from './primitives/scan-json.ts';
export { PROTOCOL_VERSION } from './primitives/version.ts';
