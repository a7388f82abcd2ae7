/** Everything a host may send. */
import { z } from 'zod';
import { childAckSchema } from './child-ack.ts';
import { childEndedSchema } from './child-ended.ts';
import { errorMessageSchema } from './error-message.ts';
import { eventMessageSchema } from './event-message.ts';
import { heartbeatSchema } from './heartbeat.ts';
import { sessionAckSchema } from './session-ack.ts';
import { toolResponseSchema } from './tool-response.ts';

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
