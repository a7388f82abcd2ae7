/** Bodies of the session routes. */
import { z } from 'zod';
import { idSchema, timestampSchema } from './fields.ts';

export const capabilitiesSchema = z
  .strictObject({
    tools: z.array(idSchema).max(256).readonly().exactOptional().describe('Names or globs'),
    capabilities: z.record(idSchema, z.array(idSchema).max(64).readonly()).exactOptional(),
    side_effect_level: z.enum(['none', 'read_only', 'workspace_write', 'process_exec', 'network']).exactOptional(),
    tool_arg_constraints: z
      .array(
        z.strictObject({
          tool: idSchema,
          arg_patterns: z.array(z.string().min(1).max(1024)).max(64).readonly(),
          arg_key: idSchema.exactOptional(),
        }),
      )
      .max(64)
      .readonly()
      .exactOptional(),
  })
  .meta({ id: 'Capabilities' });

export const registryTextSchema = z.string().max(65_536);
export const heartbeatTimeoutSchema = z.int().min(1000).max(86_400_000);

export const openSessionSchema = z
  .strictObject({
    workspace: z.string().min(1).max(4096).exactOptional().describe('Folder or name, one of those the operator allows'),
    registry: registryTextSchema.exactOptional().describe("YAML text that narrows the host's registry"),
    capabilities: capabilitiesSchema
      .exactOptional()
      .describe('A further ceiling; asking for more than allowed is refused'),
    client: z
      .strictObject({ name: idSchema, version: idSchema.exactOptional() })
      .exactOptional()
      .describe('Program that sends the calls; goes into the journal'),
    under: z
      .strictObject({
        workspace: z.string().min(1).max(200),
        session_id: idSchema,
        token: z.string().min(1).max(512),
      })
      .readonly()
      .exactOptional()
      .describe('A child of a session on another host, opened there with `workspace`: this session is where it works'),
    heartbeat_timeout_ms: heartbeatTimeoutSchema
      .exactOptional()
      .describe('The session expires, and its calls are cancelled, when no message comes for so long'),
  })
  .meta({ id: 'OpenSession' });
export type OpenSessionBody = Readonly<z.infer<typeof openSessionSchema>>;

export const sessionInfoSchema = z
  .strictObject({
    session_id: idSchema,
    workspace: z.string(),
    actor: z.string(),
    client: z.string(),
    state: z.enum(['open', 'closing']),
    opened_at: timestampSchema,
    in_flight: z.int().nonnegative(),
    last_event_id: z.int().nonnegative(),
    heartbeat_timeout_ms: z.int().positive(),
    fingerprint: z.string().describe('Of the frozen snapshot of tools and routes this session uses'),
    parent_session_id: idSchema.exactOptional().describe('Of a child: the session that opened it'),
    agent_id: idSchema.exactOptional().describe('Of a child: who it is'),
    budget: z
      .record(z.string(), z.strictObject({ used: z.number(), given: z.number() }))
      .exactOptional()
      .describe(
        'How much of max_calls, max_bytes and max_duration_ms it and its children used; limits of its own only',
      ),
  })
  .meta({ id: 'SessionInfo' });
export type SessionInfo = Readonly<z.infer<typeof sessionInfoSchema>>;

export const sessionOpenedSchema = z
  .strictObject({
    session_id: idSchema,
    token: z.string().describe('Bearer token that reaches this session and nothing else'),
    server_version: z.string(),
    workspace: z.string(),
    actor: z.string(),
    heartbeat_timeout_ms: z.int().positive(),
    fingerprint: z.string(),
    tools: z.array(z.string()).readonly().describe('Names of the tools this session may use'),
    side_effect_level: z.string().describe('The most a call of this session may do'),
    warnings: z.array(z.string()).readonly(),
  })
  .meta({ id: 'SessionOpened' });
export type SessionOpened = Readonly<z.infer<typeof sessionOpenedSchema>>;
