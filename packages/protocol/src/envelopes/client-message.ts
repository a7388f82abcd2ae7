/** Everything a client may send: the union of its catalog. */
import { z } from 'zod';
import * as catalog from './from-client/catalog.ts';

type Schema = (typeof catalog)[keyof typeof catalog];

export const clientMessageSchema = z
  .discriminatedUnion('type', Object.values(catalog) as [Schema, ...Schema[]])
  .meta({ id: 'ClientMessage' });

export type ClientMessage = Readonly<z.infer<typeof clientMessageSchema>>;
