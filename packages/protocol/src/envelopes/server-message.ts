/** Everything a host may send. */
import { z } from 'zod';
import { childAckSchema } from './from-host/child-ack.ts';
import { childEndedSchema } from './from-host/child-ended.ts';
import { errorMessageSchema } from './from-host/error-message.ts';
import { eventMessageSchema } from './from-host/event-message.ts';
import { heartbeatSchema } from './from-client/heartbeat.ts';
import { sessionAckSchema } from './from-host/session-ack.ts';
import { toolResponseSchema } from './from-host/tool-response.ts';

export const serverMessageSchema = z
  .discriminatedUnion('type', [
    sessionAckSchema,
    eventMessageSchema,
    toolResponseSchema,
    errorMessageSchema,
    heartbeatSchema,
    childAckSchema,
    childEndedSchema,
  ])
  .meta({ id: 'ServerMessage' });

export type ServerMessage = Readonly<z.infer<typeof serverMessageSchema>>;
