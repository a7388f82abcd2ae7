/** Routes that make calls, look up their answers, and check plans. */
import {
  approvalAnswerSchema,
  batchRequestSchema,
  batchResponseSchema,
  callStateSchema,
  cancelRequestSchema,
  childAckSchema,
  childEndedSchema,
  childEndSchema,
  childOpenSchema,
  errorMessageSchema,
  eventMessageSchema,
  heartbeatSchema,
  parseClientMessage,
  planProposalSchema,
  planVerdictSchema,
  ToolError,
  toolRequestSchema,
  toolResponseSchema,
} from '@tool-runtime/protocol';
import { z } from 'zod';
import { dispatch } from '../../dispatch/dispatch.ts';
import { lostAnswer } from '../../sessions/refusals.ts';
import { readBody } from '../read-body.ts';
import { defineRoute, type RouteAnswer } from '../route.ts';
import { sendText, statusOf } from '../send-answer.ts';

/** One envelope in, its answer out. When the client leaves, a call that has begun runs on, and its answer is kept. */
export const call = defineRoute({
  id: 'call',
  method: 'post',
  path: '/v1/call',
  summary:
    'Send one envelope: ToolRequest, BatchRequest, Heartbeat, CancelRequest, ApprovalAnswer, ChildOpen or ChildEnd',
  description:
    'A ToolRequest is answered by a ToolResponse, a BatchRequest by a BatchResponse, a Heartbeat by a Heartbeat, an ApprovalAnswer by the event ' +
    'ApprovalAnswered, a ChildOpen by a ChildAck, a ChildEnd by a ChildEnded, a CancelRequest by nothing. ApprovalAnswer ' +
    'needs the scope approve, all others need call. When the client leaves, a call that has begun runs on and its answer ' +
    'is kept for a while (see callState); a call that still waits for its turn is dropped as if it had never arrived.',
  scope: 'any',
  envelope: z.discriminatedUnion('type', [
    toolRequestSchema,
    batchRequestSchema,
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
        batchResponseSchema,
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
    const answer = await dispatch(message, host.reach(principal), (served) => {
      // Only a call that still waits for its turn is dropped; after the answer there is nothing to drop.
      if ('request_id' in message) outgoing.once('close', () => void served.drop([message.request_id]));
      return {};
    });
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

const terminalSchema = z.discriminatedUnion('type', [toolResponseSchema, batchResponseSchema, errorMessageSchema]);

/** For clients whose connection broke before the answer came. */
export const callState = defineRoute({
  id: 'callState',
  method: 'get',
  path: '/v1/sessions/{session_id}/calls/{request_id}',
  summary: 'The answer of a call, if it is still kept',
  scope: 'read',
  answers: {
    200: { description: 'The terminal message', schema: terminalSchema },
    202: { description: 'It still runs', schema: callStateSchema },
    404: { description: 'It never arrived (then it did not run), or its answer is no longer kept' },
  },
  handle({ host, principal, params }) {
    const requestId = params['request_id'] ?? '';
    const { served } = host.session(principal, params['session_id'] ?? '');
    const answer = served.answerOf(requestId);
    if (answer === 'running') return { status: 202, json: { request_id: requestId, state: 'running' } };
    if (answer !== undefined) return { status: 200, text: answer.text };
    throw lostAnswer(served, requestId);
  },
});

/** Judges calls before they are made. Nothing runs, nothing is locked, no budget is taken. */
export const proposePlan = defineRoute({
  id: 'proposePlan',
  method: 'post',
  path: '/v1/sessions/{session_id}/plans',
  summary: 'Have several calls checked, by the gates and by the coordinator, without running any',
  scope: 'call',
  body: planProposalSchema,
  answers: { 200: { description: 'The verdict on every step', schema: planVerdictSchema } },
  async handle({ host, principal, params, body }) {
    const { served } = host.session(principal, params['session_id'] ?? '');
    return { status: 200, json: await served.session.propose(body) };
  },
});
