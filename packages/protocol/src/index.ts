/** Public surface of the protocol package. */
export type { Connection } from './client/connection.ts';
export {
  type ClientCallOptions,
  createToolClient,
  type ToolClient,
  type ToolClientOptions,
} from './client/tool-client.ts';
export type { LooseTools, ToolMap, ToolResponseWith, ToolSignature } from './client/tool-map.ts';
export { describeIssues, type FieldIssue, type IssueDescription } from './describe-issues.ts';
export { type CancelRequest, cancelRequestSchema } from './envelopes/cancel-request.ts';
export { type ClientMessage, clientMessageSchema } from './envelopes/client-message.ts';
export { errorEntrySchema } from './envelopes/error-entry.ts';
export { type ErrorMessage, errorMessageSchema } from './envelopes/error-message.ts';
export { type EventMessage, eventMessageSchema } from './envelopes/event-message.ts';
export { type Heartbeat, heartbeatSchema } from './envelopes/heartbeat.ts';
export { idSchema, MAX_ID_BYTES } from './envelopes/id.ts';
export { isJsonObject, isJsonValue, jsonObjectSchema, jsonValueSchema } from './envelopes/json.ts';
export { type ServerMessage, serverMessageSchema } from './envelopes/server-message.ts';
export { type SessionAck, sessionAckSchema } from './envelopes/session-ack.ts';
export { timestampSchema } from './envelopes/timestamp.ts';
export { type ToolRequest, toolRequestSchema } from './envelopes/tool-request.ts';
export { type ToolResponse, toolResponseSchema } from './envelopes/tool-response.ts';
export { ERROR_GUIDE, type ErrorAdvice } from './error-guide.ts';
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
} from './errors.ts';
export { type EnvelopeName, envelopeSchemas } from './json-schemas.ts';
export { type ParsedMessage, parseClientMessage, parseServerMessage } from './parse-envelope.ts';
export { createProgress, type Progress } from './progress.ts';
export { DEFAULT_MAX_BYTES, DEFAULT_MAX_DEPTH, type ScanFault, type ScanLimits, scanJson } from './scan-json.ts';
export { utf8Length } from './utf8-length.ts';
export { PROTOCOL_VERSION } from './version.ts';
