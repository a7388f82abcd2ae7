/** Bodies of the routes about the host itself. */
import { z } from 'zod';
import { timestampSchema } from '../envelopes/fields.ts';

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
