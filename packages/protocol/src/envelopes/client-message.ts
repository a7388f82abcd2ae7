/** Everything a client may send. */
import { z } from 'zod';
import { approvalAnswerSchema } from './approval-answer.ts';
import { cancelRequestSchema } from './cancel-request.ts';
import { childEndSchema } from './child-end.ts';
import { childOpenSchema } from './child-open.ts';
import { heartbeatSchema } from './heartbeat.ts';
import { sessionAttachSchema } from './session-attach.ts';
import { toolRequestSchema } from './tool-request.ts';

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
