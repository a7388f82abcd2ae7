/** Everything a host may send: the union of its catalog, and the heartbeat. */
import { z } from 'zod';
import { heartbeatSchema } from './from-client/heartbeat.ts';
import * as catalog from './from-host/catalog.ts';

type Schema = (typeof catalog)[keyof typeof catalog];

export const serverMessageSchema = z
  .discriminatedUnion('type', [heartbeatSchema, ...(Object.values(catalog) as Schema[])])
  .meta({ id: 'ServerMessage' });

export type ServerMessage = Readonly<z.infer<typeof serverMessageSchema>>;
