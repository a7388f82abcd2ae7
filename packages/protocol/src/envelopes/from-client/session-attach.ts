/**
 * Joins a session on this connection: its events from now on, and what was missed since the connection before.
 *
 * The host answers with a SessionAck, then the events after `after`, then the answer of every request in `pending` that
 * has one by now. A request of `pending` that never arrived is refused with reason `never_received`: it did not run.
 */
import { z } from 'zod';
import { idSchema } from '../fields.ts';

export const sessionAttachSchema = z
  .strictObject({
    type: z.literal('SessionAttach'),
    session_id: idSchema,
    /** The id of the last event that was seen. */
    after: z.int().nonnegative().exactOptional(),
    /** Requests of this session whose answer has not been seen. */
    pending: z.array(idSchema).max(1024).readonly().exactOptional(),
    /** Progress of calls and everything that needs attention, or every change of status too. */
    events: z.enum(['progress', 'all']).exactOptional(),
  })
  .meta({ id: 'SessionAttach' });

export type SessionAttach = Readonly<z.infer<typeof sessionAttachSchema>>;
