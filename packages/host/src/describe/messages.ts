/**
 * Every message and event of the host's connections, as AsyncAPI describes them.
 *
 * The runtime builds events by hand on the call path. The schemas here are what clients may rely on; a test triggers
 * each event and compares.
 */
import {
  approvalAnswerSchema,
  batchRequestSchema,
  batchResponseSchema,
  cancelRequestSchema,
  childAckSchema,
  childEndedSchema,
  childEndSchema,
  childOpenSchema,
  describeSchemas,
  ERROR_CODES,
  errorMessageSchema,
  eventMessageSchema,
  heartbeatSchema,
  idSchema,
  type JsonObject,
  jsonObjectSchema,
  sessionAckSchema,
  sessionAttachSchema,
  toolRequestSchema,
  toolResponseSchema,
} from '@tool-runtime/protocol';
import { z } from 'zod';

const tool = idSchema.describe('Name of the tool');
const whole = z.int().nonnegative();
const milliseconds = z.number().nonnegative();

const statusSchema = z.union([
  z.strictObject({
    tool,
    status: z.enum(['pending', 'in_progress']),
    phase: z.enum(['pre-check', 'execute', 'sync', 'validate', 'emit']),
  }),
  z.strictObject({
    tool,
    status: z.enum(['completed', 'failed']),
    outcome: z.string().describe('How the journal names the end, such as denied_before_execution'),
  }),
]);

const violationSchema = z.strictObject({
  tool,
  code: z.enum(ERROR_CODES),
  message: z.string(),
  gate: z.string().exactOptional(),
  rule: z.string().exactOptional(),
  enforcement: z.string().exactOptional(),
  registry: z.string().exactOptional().describe('`file:line` that decided'),
});

const approval = { approval_id: idSchema, tool, summary: z.string().describe('The arguments in one redacted line') };

const requestedSchema = z.strictObject({
  ...approval,
  reason: z.string().describe('Gate, rule or policy that asks'),
  effect: z.string().exactOptional().describe('What it is about to do, masked and cut when long'),
  effect_kind: z.enum(['diff', 'command', 'request']).exactOptional(),
  scope: z.string().describe('Which other calls a yes for the session covers'),
});

const answeredSchema = z.strictObject({
  approval_id: idSchema,
  answer: z.enum(['approved', 'approved_for_session', 'denied']),
  by: z.string().exactOptional().describe('Missing when no answer came in time'),
  reason: z.string().exactOptional(),
  tool: tool.exactOptional(),
  summary: approval.summary.exactOptional(),
});

const toolRollupSchema = z
  .strictObject({
    calls: whole,
    errors: whole.describe('Calls that did not succeed, denied ones included'),
    error_codes: z.record(z.string(), whole),
    denials: whole.describe('Calls a gate refused before anything ran'),
    duration_ms: milliseconds,
    max_duration_ms: milliseconds,
    durations: z.array(whole).describe('Calls for each of duration_bounds_ms and, last, those that took longer'),
    files_touched: whole,
    bytes: whole,
    lock_waits: whole,
    lock_wait_ms: milliseconds,
    approval_waits: whole,
    approval_wait_ms: milliseconds,
  })
  .meta({ id: 'ToolRollup' });

const metricsSchema = z.strictObject({
  interval: z.number().nonnegative().describe('Seconds until the next metrics event; 0 for a single one'),
  rollup: z.strictObject({
    tools: z.record(z.string(), toolRollupSchema),
    total: toolRollupSchema,
    duration_bounds_ms: z.array(z.number()),
  }),
});

const missedSchema = z.strictObject({ missed: whole.describe('How many; unknown after a long absence') });

const childChangedSchema = z.strictObject({
  child_session_id: idSchema,
  agent_id: idSchema,
  event: z.string().describe('started, completed, cancelling, cancelled, expired, detached, reclaimed'),
});

const childEventSchema = z.strictObject({
  child_session_id: idSchema,
  child_event: z.string().describe("Name of the child's event"),
  child_event_id: whole,
  child_request_id: idSchema,
  child_data: jsonObjectSchema.exactOptional(),
});

export interface EventKind {
  readonly summary: string;
  readonly schema: z.ZodType;
}

function eventKind<Name extends string>(name: Name, summary: string, data: z.ZodType | undefined): EventKind {
  const bare = eventMessageSchema.omit({ data: true }).extend({ event: z.literal(name) });
  const full = data === undefined ? bare : bare.extend({ data });
  return { summary, schema: full.meta({ id: `${name}Event` }) };
}

export const EVENT_KINDS: Readonly<Record<string, EventKind>> = {
  TaskProgress: eventKind('TaskProgress', 'A tool says how far it is', jsonObjectSchema.exactOptional()),
  CallStatusChanged: eventKind('CallStatusChanged', 'A call enters a phase or ends; only for `all`', statusSchema),
  RuleViolation: eventKind('RuleViolation', 'A gate or rule refused a call, or warned', violationSchema),
  ApprovalRequested: eventKind('ApprovalRequested', 'A call waits for the answer of a person', requestedSchema),
  ApprovalAnswered: eventKind('ApprovalAnswered', 'A question has its answer', answeredSchema),
  Metrics: eventKind('Metrics', 'Figures of the session; `request_id` of a repeated one is the session', metricsSchema),
  ChildChanged: eventKind('ChildChanged', 'A child of the session began, ended or changed hands', childChangedSchema),
  ChildEvent: eventKind('ChildEvent', 'What happened in a child; changes of status are left out', childEventSchema),
  EventsMissed: eventKind('EventsMissed', 'Events are missing here', missedSchema.exactOptional()),
  SessionEnded: eventKind('SessionEnded', 'The session has ended; the last event of it', undefined),
};

interface MessageKind {
  readonly summary: string;
  readonly schema: z.ZodType;
}

const CLIENT_KINDS: Readonly<Record<string, MessageKind>> = {
  ToolRequest: { summary: 'One call of one tool', schema: toolRequestSchema },
  BatchRequest: { summary: 'Several calls with one strategy', schema: batchRequestSchema },
  CancelRequest: { summary: 'Stop a running call', schema: cancelRequestSchema },
  Heartbeat: { summary: 'A sign of life, in both directions', schema: heartbeatSchema },
  SessionAttach: { summary: 'Join a session on this connection', schema: sessionAttachSchema },
  ApprovalAnswer: { summary: 'What an approver says to a question', schema: approvalAnswerSchema },
  ChildOpen: { summary: 'Open a child of a session', schema: childOpenSchema },
  ChildEnd: { summary: 'End a child session', schema: childEndSchema },
};

const SERVER_KINDS: Readonly<Record<string, MessageKind>> = {
  SessionAck: { summary: 'Which session this is', schema: sessionAckSchema },
  ToolResponse: { summary: 'The answer of a call that reached its session', schema: toolResponseSchema },
  BatchResponse: { summary: 'The answers of a batch, in the order of release', schema: batchResponseSchema },
  ChildAck: { summary: 'The child that was opened', schema: childAckSchema },
  ChildEnded: { summary: 'The child has ended; what it used', schema: childEndedSchema },
  ErrorMessage: { summary: 'The refusal of what reached no session', schema: errorMessageSchema },
};

export const EVENT_NAMES: readonly string[] = Object.keys(EVENT_KINDS);

/** All of them; `Heartbeat` goes in both directions. */
export const MESSAGE_NAMES: readonly string[] = [CLIENT_KINDS, SERVER_KINDS, EVENT_KINDS].flatMap(Object.keys);

/** The parts `messages` and `schemas` of the document. */
export function describeMessages(): { readonly messages: JsonObject; readonly schemas: JsonObject } {
  const kinds = Object.entries({ ...CLIENT_KINDS, ...SERVER_KINDS, ...EVENT_KINDS });
  const schemas = Object.fromEntries(kinds.map(([name, { schema }]) => [name, schema]));
  const { given, named } = describeSchemas(schemas, (name) => `#/components/schemas/${name}`);
  const messages = kinds.map(([name, { summary, schema }]) => [
    name,
    { name, title: name, summary, ...correlation(schema), payload: given[name] ?? {} },
  ]);
  return { messages: Object.fromEntries(messages) as JsonObject, schemas: named };
}

/** What belongs to one request has its id. */
function correlation(schema: z.ZodType): JsonObject {
  const fields = (schema as z.ZodObject).shape;
  return 'request_id' in fields ? { correlationId: { $ref: '#/components/correlationIds/request' } } : {};
}
