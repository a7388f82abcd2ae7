/** One envelope in, its answer out. The client may leave meanwhile: the call runs on, and its answer is kept. */
import {
  approvalAnswerSchema,
  cancelRequestSchema,
  childAckSchema,
  childEndedSchema,
  childEndSchema,
  childOpenSchema,
  eventMessageSchema,
  heartbeatSchema,
  parseClientMessage,
  ToolError,
  toolRequestSchema,
  toolResponseSchema,
} from '@tool-runtime/protocol';
import { z } from 'zod';
import { dispatch } from '../../dispatch/dispatch.ts';
import { readBody } from '../read-body.ts';
import { defineRoute, type RouteAnswer } from '../route.ts';
import { sendText } from '../send-answer.ts';
import { statusOf } from '../status-of.ts';

export const call = defineRoute({
  id: 'call',
  method: 'post',
  path: '/v1/call',
  summary: 'Send one envelope: ToolRequest, Heartbeat, CancelRequest, ApprovalAnswer, ChildOpen or ChildEnd',
  description:
    'A ToolRequest is answered by a ToolResponse, a Heartbeat by a Heartbeat, an ApprovalAnswer by the event ' +
    'ApprovalAnswered, a ChildOpen by a ChildAck, a ChildEnd by a ChildEnded, a CancelRequest by nothing. ApprovalAnswer ' +
    'needs the scope approve, all others need call. The call runs on when the client leaves; its answer is kept for a ' +
    'while, see callState.',
  scope: 'any',
  envelope: z.discriminatedUnion('type', [
    toolRequestSchema,
    heartbeatSchema,
    cancelRequestSchema,
    approvalAnswerSchema,
    childOpenSchema,
    childEndSchema,
  ]),
  answers: {
    200: {
      description: 'The answer; a call that was refused or failed has one too, with `ok: false`',
      schema: z.discriminatedUnion('type', [
        toolResponseSchema,
        heartbeatSchema,
        eventMessageSchema,
        childAckSchema,
        childEndedSchema,
      ]),
    },
    202: { description: 'The cancel was passed on; the call answers where it was made' },
    404: { description: 'No such session, or no such question waits' },
    409: { description: 'The request id was used before, the question has its answer, or the child has children' },
    429: { description: 'The host has as many sessions as it takes' },
    503: { description: 'The host is shutting down and takes no new calls' },
  },
  async handle({ host, principal, incoming, outgoing }): Promise<RouteAnswer> {
    const maxBytes = host.maxRequestBytes;
    const parsed = parseClientMessage(await readBody(incoming, maxBytes), { maxBytes });
    if (!parsed.ok) return { status: statusOf(parsed.error), json: parsed.error };
    const { message } = parsed;
    if (message.type === 'SessionAttach') throw needsConnection();
    const answer = await dispatch(message, host.reach(principal));
    if (answer === undefined) return { status: 202 };
    const status = answer.message.type === 'ErrorMessage' ? statusOf(answer.message) : 200;
    sendText(outgoing, status, answer.text);
    return 'sent';
  },
});

function needsConnection(): ToolError {
  return new ToolError('E_VALIDATION_FAIL', 'SessionAttach needs a connection that stays open', {
    details: { reason: 'needs_connection', next: 'use /v1/ws, or GET /v1/events for events alone' },
  });
}
