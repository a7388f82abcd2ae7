/** Bodies of the routes about the host itself: its status, its tools, and what a token may do there. */
import { z } from 'zod';
import { timestampSchema } from '../envelopes/fields.ts';

/** What a token may do. None includes another: a token that may only approve cannot call. */
export const SCOPES = ['read', 'call', 'approve', 'audit', 'admin'] as const;
export const scopeSchema = z.enum(SCOPES);
export type Scope = z.infer<typeof scopeSchema>;

/** Body of the route that lists tools. Only what every client needs is pinned down; a listing may say more. */
export const toolListSchema = z
  .strictObject({
    tools: z.array(z.looseObject({ name: z.string() })).readonly(),
    hidden: z
      .array(z.looseObject({ name: z.string(), reason: z.string() }))
      .readonly()
      .describe('Tools the session may not use, and why'),
  })
  .meta({ id: 'ToolList' });
export type ToolList = Readonly<z.infer<typeof toolListSchema>>;

export const hostStatusSchema = z
  .strictObject({
    server_version: z.string(),
    state: z.enum(['starting', 'ready', 'draining']),
    started_at: timestampSchema,
    uptime_ms: z.number().nonnegative(),
    pid: z.int(),
    workspaces: z.array(z.string()).readonly(),
    sessions: z.int().nonnegative(),
    connections: z.int().nonnegative(),
    in_flight: z.int().nonnegative().describe('Calls that run, never more than the limit'),
    queued: z.int().nonnegative().describe('Calls that wait for their turn'),
    approvals: z.int().nonnegative(),
    memory_bytes: z.int().nonnegative(),
  })
  .meta({ id: 'HostStatus' });
export type HostStatus = Readonly<z.infer<typeof hostStatusSchema>>;

export const callStateSchema = z
  .strictObject({ request_id: z.string(), state: z.literal('running') })
  .meta({ id: 'CallState' });
