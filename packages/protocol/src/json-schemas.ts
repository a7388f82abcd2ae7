/** The envelopes as JSON Schema 2020-12, generated from the definitions that judge real messages. */
import { z } from 'zod';
import { cancelRequestSchema } from './envelopes/cancel-request.ts';
import { errorMessageSchema } from './envelopes/error-message.ts';
import { eventMessageSchema } from './envelopes/event-message.ts';
import { heartbeatSchema } from './envelopes/heartbeat.ts';
import { sessionAckSchema } from './envelopes/session-ack.ts';
import { toolRequestSchema } from './envelopes/tool-request.ts';
import { toolResponseSchema } from './envelopes/tool-response.ts';
import type { JsonObject } from './errors.ts';
import { PROTOCOL_VERSION } from './version.ts';

const ENVELOPES = {
  ToolRequest: toolRequestSchema,
  ToolResponse: toolResponseSchema,
  EventMessage: eventMessageSchema,
  ErrorMessage: errorMessageSchema,
  Heartbeat: heartbeatSchema,
  SessionAck: sessionAckSchema,
  CancelRequest: cancelRequestSchema,
} as const;

const UNIONS = {
  ClientMessage: ['ToolRequest', 'Heartbeat', 'CancelRequest'],
  ServerMessage: ['SessionAck', 'EventMessage', 'ToolResponse', 'ErrorMessage', 'Heartbeat'],
} as const satisfies Record<string, readonly (keyof typeof ENVELOPES)[]>;

export type EnvelopeName = keyof typeof ENVELOPES | keyof typeof UNIONS;

const DIALECT = 'https://json-schema.org/draft/2020-12/schema';

/** By message name. The two unions refer to the others by `$id`. */
export function envelopeSchemas(): Readonly<Record<EnvelopeName, JsonObject>> {
  const envelopes = Object.entries(ENVELOPES).map(([name, schema]) => [name, envelopeSchema(name, schema)]);
  const unions = Object.entries(UNIONS).map(([name, members]) => [name, unionSchema(name, members)]);
  return Object.fromEntries([...envelopes, ...unions]) as Record<EnvelopeName, JsonObject>;
}

function envelopeSchema(name: string, schema: z.ZodType): JsonObject {
  const { $schema: _dialect, ...body } = z.toJSONSchema(schema, {
    target: 'draft-2020-12',
    // JSON values are checked by a function, which has no JSON Schema form; their metadata says what can be said.
    unrepresentable: 'any',
    override: ({ jsonSchema }) => {
      // To zod a TypeScript matter; to readers of a JSON Schema it means "the server sets this".
      delete jsonSchema.readOnly;
    },
  });
  return { $schema: DIALECT, $id: schemaId(name), title: name, ...(body as JsonObject) };
}

function unionSchema(name: string, members: readonly string[]): JsonObject {
  return {
    $schema: DIALECT,
    $id: schemaId(name),
    title: name,
    oneOf: members.map((member) => ({ $ref: schemaId(member) })),
  };
}

function schemaId(name: string): string {
  const file = name.replace(/(?<=[a-z])[A-Z]/g, (letter) => `-${letter}`).toLowerCase();
  return `https://tool-runtime.dev/schemas/v${PROTOCOL_VERSION}/${file}.json`;
}
