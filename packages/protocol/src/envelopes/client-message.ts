/** Everything a client may send. */
import { z } from 'zod';
import { approvalAnswerSchema } from './from-client/approval-answer.ts';
import { cancelRequestSchema } from './from-client/cancel-request.ts';
import { childEndSchema } from './from-client/child-end.ts';
import { childOpenSchema } from './from-client/child-open.ts';
import { heartbeatSchema } from './from-client/heartbeat.ts';
import { sessionAttachSchema } from './from-client/session-attach.ts';
import { toolRequestSchema } from './from-client/tool-request.ts';

export const clientMessageSchema = z
  .discriminatedUnion('type', [
    toolRequestSchema,
    heartbeatSchema,
    cancelRequestSchema,
    sessionAttachSchema,
    approvalAnswerSchema,
    childOpenSchema,
    childEndSchema,
  ])
  .meta({ id: 'ClientMessage' });

export type ClientMessage = Readonly<z.infer<typeof clientMessageSchema>>;
