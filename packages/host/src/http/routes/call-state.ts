/** For clients whose connection broke before the answer came. */
import { callStateSchema, errorMessageSchema, toolResponseSchema } from '@tool-runtime/protocol';
import { z } from 'zod';
import { lostAnswer } from '../../sessions/lost-answers.ts';
import { defineRoute } from '../route.ts';

const terminalSchema = z.discriminatedUnion('type', [toolResponseSchema, errorMessageSchema]);

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
