/**
 * child_open, child_call, child_close: a model behind one connection hands part of what it may do to another agent.
 *
 * They are no tools of the runtime. A child is a session of its own: what child_call names is judged, approved and
 * recorded there. They are listed where a profile shows everything or names them, since few models delegate.
 */
import type { Tool } from '@modelcontextprotocol/server';
import { isJsonObject, type JsonObject, type OpenChildBody, openChildSchema, ToolError } from '@tool-runtime/protocol';
import { z } from 'zod';
import { CHILD_CALL_NAME, CHILD_CLOSE_NAME, CHILD_OPEN_NAME } from './child-tool-names.ts';

const SESSION_ID = { type: 'string', description: 'As child_open answered' } as const;
const POLICIES = ['read_only', 'inherit_allowlist', 'no_tools'];

const CHILD_OPEN: Tool = {
  name: CHILD_OPEN_NAME,
  title: 'Open a child session',
  description:
    'Open a session that can do less than yours, for an agent you delegate to. It reads only, unless tools says otherwise.',
  inputSchema: {
    type: 'object',
    properties: {
      agent_id: { type: 'string', description: 'Name of the agent' },
      tools: {
        description: 'Names of tools it keeps, or a policy',
        anyOf: [
          { type: 'array', items: { type: 'string' } },
          {
            type: 'object',
            properties: { type: { type: 'string', enum: POLICIES } },
            required: ['type'],
            additionalProperties: false,
          },
        ],
      },
      folder: { type: 'string', description: 'Folder that becomes its whole workspace' },
      budget: {
        type: 'object',
        description: 'Taken from yours',
        properties: {
          max_calls: { type: 'integer', minimum: 0 },
          max_bytes: { type: 'integer', minimum: 0 },
          max_duration_ms: { type: 'integer', minimum: 0 },
        },
        additionalProperties: false,
      },
    },
    required: ['agent_id'],
    additionalProperties: false,
  },
  outputSchema: {
    type: 'object',
    properties: {
      session_id: { type: 'string' },
      tools: { type: 'array', items: { type: 'string' } },
      manifest: { type: 'object', description: 'What it kept, and what was stripped' },
    },
    required: ['session_id', 'tools', 'manifest'],
  },
  annotations: { readOnlyHint: false, destructiveHint: false, idempotentHint: false, openWorldHint: false },
};

/** The hints of the worst tool behind it. */
const CHILD_CALL: Tool = {
  name: CHILD_CALL_NAME,
  title: 'Call in a child session',
  description: 'Call a tool in the session of a child you opened. Its policy, budget and approvals count, not yours.',
  inputSchema: {
    type: 'object',
    properties: {
      session_id: SESSION_ID,
      tool: { type: 'string' },
      args: { type: 'object', description: 'As the input schema of the tool says' },
    },
    required: ['session_id', 'tool', 'args'],
    additionalProperties: false,
  },
  annotations: { readOnlyHint: false, destructiveHint: true, idempotentHint: false, openWorldHint: true },
};

const CHILD_CLOSE: Tool = {
  name: CHILD_CLOSE_NAME,
  title: 'End a child session',
  description: 'End a child you opened, after its running calls or at once. Answers what it used.',
  inputSchema: {
    type: 'object',
    properties: { session_id: SESSION_ID, cancel: { type: 'boolean', default: false } },
    required: ['session_id'],
    additionalProperties: false,
  },
  outputSchema: {
    type: 'object',
    properties: {
      calls: { type: 'integer' },
      errors: { type: 'integer' },
      bytes: { type: 'number' },
      duration_ms: { type: 'number' },
    },
    required: ['calls', 'errors', 'bytes', 'duration_ms'],
  },
  annotations: { readOnlyHint: false, destructiveHint: false, idempotentHint: false, openWorldHint: false },
};

export const CHILD_TOOLS: readonly Tool[] = [CHILD_CALL, CHILD_CLOSE, CHILD_OPEN];

const openArgs = openChildSchema.pick({ agent_id: true, tools: true, folder: true, budget: true });
const callArgs = z.strictObject({
  session_id: z.string().min(1),
  tool: z.string().min(1),
  args: z.custom<JsonObject>(isJsonObject, 'expected an object').default({}),
});
const closeArgs = z.strictObject({ session_id: z.string().min(1), cancel: z.boolean().default(false) });

/** All throw E_VALIDATION_FAIL. */
export const readChildOpen = (given: unknown): OpenChildBody => readArgs(CHILD_OPEN_NAME, openArgs, given);
export const readChildCall = (given: unknown): z.infer<typeof callArgs> => readArgs(CHILD_CALL_NAME, callArgs, given);
export const readChildClose = (given: unknown): z.infer<typeof closeArgs> =>
  readArgs(CHILD_CLOSE_NAME, closeArgs, given);

function readArgs<Schema extends z.ZodType>(tool: string, schema: Schema, given: unknown): z.infer<Schema> {
  const read = schema.safeParse(given);
  if (read.success) return read.data;
  throw new ToolError('E_VALIDATION_FAIL', `Arguments do not fit ${tool}: ${z.prettifyError(read.error)}`, {
    details: { next: 'give what its input schema says' },
  });
}
