/** The route behind `tool-runtime call`: a session, its one call, and its end. */
import { randomUUID } from 'node:crypto';
import {
  errorEntrySchema,
  jsonObjectSchema,
  ToolError,
  type ToolRequest,
  toolRequestSchema,
  toolResponseSchema,
} from '@tool-runtime/protocol';
import { z } from 'zod';
import { dispatch } from '../../dispatch/dispatch.ts';
import { showAnswer } from '../../sessions/show-answer.ts';
import { typeWords } from '../../sessions/typed-words.ts';
import { defineRoute } from '../route.ts';
import { statusOf } from '../send-answer.ts';

/** Only for the user the host runs as, by the kernel's word: the records name no token, as those of the command do not. */
export const commandCall = defineRoute({
  id: 'commandCall',
  method: 'post',
  path: '/v1/command-call',
  summary: 'Make one call in a new session, without approvals, as `tool-runtime call` does by itself',
  description: 'Only over the Unix socket and for the user the host runs as. A client that leaves cancels its call.',
  scope: 'call',
  isHostWide: true,
  body: toolRequestSchema.pick({ tool: true, idempotency_key: true, timeout_ms: true }).extend({
    args: jsonObjectSchema.exactOptional(),
    words: z
      .array(z.string())
      .exactOptional()
      .describe('Instead of args: key=value and --key value, text where the tool takes text'),
    is_shown: z.boolean().default(false).describe('Whether the answer is wanted as text for people too'),
  }),
  answers: {
    200: {
      description: 'The answer, and what the operator should know about the registry',
      schema: z.strictObject({
        response: toolResponseSchema,
        warnings: z.array(errorEntrySchema),
        shown: z.strictObject({ text: z.string(), warnings: z.array(z.string()) }).exactOptional(),
      }),
    },
    503: { description: 'The host is shutting down' },
  },
  async handle({ host, principal, body, outgoing }) {
    if (principal.isOwner !== true) throw notTheOwner();
    const session = await host.openSession(principal, { client: { name: 'tool-runtime call' } }, { isOfCommand: true });
    const { served } = session;
    const leave = (): void => void host.closeSession(session, { cancel: true });
    outgoing.once('close', leave);
    const { tool, words = [], is_shown, ...options } = body;
    const typed = options.args === undefined ? typeWords(words, served.session.tools(tool)[0]?.argsSchema) : options;
    const args = 'problem' in typed ? refuseWords(typed.problem) : (typed.args as ToolRequest['args']);
    const request: ToolRequest = {
      type: 'ToolRequest',
      session_id: served.id,
      request_id: randomUUID(),
      timestamp: Math.floor(Date.now() / 1000),
      tool,
      ...options,
      args,
    };
    const answer = await dispatch(request, host.reach(principal), () => ({ isFleeting: true }));
    outgoing.off('close', leave);
    await host.closeSession(session, { cancel: false });
    if (answer?.message.type !== 'ToolResponse') {
      const { message } = answer ?? {};
      return { status: message?.type === 'ErrorMessage' ? statusOf(message) : 500, json: message ?? {} };
    }
    const { message: response } = answer;
    const [workspace] = host.workspaces.all;
    const shown = is_shown ? { shown: showAnswer(served.session, { tool, args }, response) } : {};
    return { status: 200, json: { response, warnings: workspace?.runtime.warnings ?? [], ...shown } };
  },
});

/** The command then reads them itself and says what is wrong with them. */
function refuseWords(problem: string): never {
  throw new ToolError('E_VALIDATION_FAIL', problem, {
    path: 'words',
    details: { reason: 'bad_words', next: 'give each argument once, with a value' },
  });
}

function notTheOwner(): ToolError {
  return new ToolError('E_POLICY', 'Only the user the host runs as may make a call of the command here', {
    details: { gate: 'auth', reason: 'not_the_owner', next: 'open a session' },
  });
}
