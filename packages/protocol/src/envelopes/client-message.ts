/** Everything a client may send. */
import { z } from 'zod';
import { cancelRequestSchema } from './cancel-request.ts';
import { heartbeatSchema } from './heartbeat.ts';
import { toolRequestSchema } from './tool-request.ts';

export const clientMessageSchema = z.discriminatedUnion('type', [
  toolRequestSchema,
  heartbeatSchema,
  cancelRequestSchema,
]);

export type ClientMessage = Readonly<z.infer<typeof clientMessageSchema>>;
