/** Every message of the host's connections as AsyncAPI describes it. */
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
  errorMessageSchema,
  heartbeatSchema,
  type JsonObject,
  sessionAckSchema,
  sessionAttachSchema,
  toolRequestSchema,
  toolResponseSchema,
} from '@tool-runtime/protocol';
import type { z } from 'zod';
import { EVENT_KINDS } from './event-schemas.ts';

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

/** All of them; `Heartbeat` stands for both directions. */
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
