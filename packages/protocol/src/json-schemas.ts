/**
 * Definitions as JSON Schema, generated from the zod schemas that check real messages.
 *
 * What has an `id` in its metadata is described once, under that name; wherever it occurs there is a reference.
 */
import { z } from 'zod';
import { childOpenedSchema, detachChildSchema, openChildSchema, usageSchema } from './envelopes/children.ts';
import { type ClientMessage, clientMessageSchema } from './envelopes/client-message.ts';
import { type ServerMessage, serverMessageSchema } from './envelopes/server-message.ts';
import { openSessionSchema, sessionInfoSchema, sessionOpenedSchema } from './envelopes/sessions.ts';
import { answerApprovalSchema, approvalAnsweredSchema, pendingApprovalSchema } from './http/approvals.ts';
import {
  consoleLinkBodySchema,
  consoleLinkSchema,
  consoleSessionSchema,
  signedInSchema,
  signInSchema,
} from './http/console.ts';
import {
  coordinatorBudgetSchema,
  coordinatorCallSchema,
  coordinatorPlanSchema,
  coordinatorSpendSchema,
  coordinatorVerdictSchema,
} from './http/coordinator.ts';
import { callStateSchema, hostStatusSchema } from './http/host-info.ts';
import { metricsHistorySchema, registryViewSchema } from './http/insight.ts';
import { planProposalSchema, planVerdictSchema } from './http/plans.ts';
import {
  callDetailSchema,
  callPageSchema,
  familiesSchema,
  journalStateSchema,
  journalVerdictSchema,
  recordPageSchema,
  verifyBodySchema,
} from './http/records.ts';
import type { JsonObject } from './primitives/errors.ts';
import { PROTOCOL_VERSION } from './primitives/version.ts';

export type EnvelopeName = ClientMessage['type'] | ServerMessage['type'] | 'ClientMessage' | 'ServerMessage';

const ENVELOPES = { client: clientMessageSchema, server: serverMessageSchema };

const BODIES = {
  openSession: openSessionSchema,
  sessionOpened: sessionOpenedSchema,
  sessionInfo: sessionInfoSchema,
  openChild: openChildSchema,
  childOpened: childOpenedSchema,
  usage: usageSchema,
  detachChild: detachChildSchema,
  callState: callStateSchema,
  pendingApproval: pendingApprovalSchema,
  answerApproval: answerApprovalSchema,
  approvalAnswered: approvalAnsweredSchema,
  planProposal: planProposalSchema,
  planVerdict: planVerdictSchema,
  hostStatus: hostStatusSchema,
  consoleLinkBody: consoleLinkBodySchema,
  consoleLink: consoleLinkSchema,
  signIn: signInSchema,
  signedIn: signedInSchema,
  consoleSession: consoleSessionSchema,
  recordPage: recordPageSchema,
  callPage: callPageSchema,
  callDetail: callDetailSchema,
  journalState: journalStateSchema,
  verifyJournal: verifyBodySchema,
  journalVerdict: journalVerdictSchema,
  families: familiesSchema,
  registryView: registryViewSchema,
  metricsHistory: metricsHistorySchema,
  coordinatorCall: coordinatorCallSchema,
  coordinatorVerdict: coordinatorVerdictSchema,
  coordinatorBudget: coordinatorBudgetSchema,
  coordinatorPlan: coordinatorPlanSchema,
  coordinatorSpend: coordinatorSpendSchema,
};

const DIALECT = 'https://json-schema.org/draft/2020-12/schema';
const OWN_REFERENCE = '#/$defs/';

export interface SchemaDescriptions<Key extends string> {
  /** By the key they were given under: a reference for what has a name, else the schema itself. */
  readonly given: Readonly<Record<Key, JsonObject>>;
  /** Everything with a name that the given ones are or hold, by that name. */
  readonly named: Readonly<Record<string, JsonObject>>;
}

/** Says what may be sent, so a field with a default is optional. `refTo` makes the reference to a name. */
export function describeSchemas<Key extends string>(
  schemas: Readonly<Record<Key, z.ZodType>>,
  refTo: (name: string) => string,
): SchemaDescriptions<Key> {
  // One object around all of them, so that zod itself finds what they share.
  const whole = z.toJSONSchema(z.object(schemas), {
    target: 'draft-2020-12',
    io: 'input',
    // JSON values are checked by a function, which has no JSON Schema form; their metadata says what can be said.
    unrepresentable: 'any',
    override: ({ jsonSchema }) => {
      // To zod a TypeScript matter; to readers of a JSON Schema it means "the server sets this".
      delete jsonSchema.readOnly;
    },
  });
  const { properties, $defs } = JSON.parse(JSON.stringify(whole), (key, value: unknown) =>
    key === '$ref' && typeof value === 'string' ? refTo(value.slice(OWN_REFERENCE.length)) : value,
  ) as { properties: Record<Key, JsonObject>; $defs?: Record<string, JsonObject> };
  return { given: properties, named: $defs ?? {} };
}

/** By message name. The two unions refer to the others by `$id`. */
export function envelopeSchemas(): Readonly<Record<EnvelopeName, JsonObject>> {
  return documentsOf(ENVELOPES) as Record<EnvelopeName, JsonObject>;
}

/** What goes over HTTP in addition to envelopes, by name. */
export function bodySchemas(): Readonly<Record<string, JsonObject>> {
  return documentsOf(BODIES);
}

function documentsOf(schemas: Readonly<Record<string, z.ZodType>>): Record<string, JsonObject> {
  const { named } = describeSchemas(schemas, schemaId);
  return Object.fromEntries(
    Object.entries(named).map(([name, schema]) => [
      name,
      { $schema: DIALECT, $id: schemaId(name), title: name, ...schema },
    ]),
  );
}

function schemaId(name: string): string {
  const file = name.replace(/(?<=[a-z])[A-Z]/g, (letter) => `-${letter}`).toLowerCase();
  return `https://tool-runtime.dev/schemas/v${PROTOCOL_VERSION}/${file}.json`;
}
