/**
 * The host's own routes: sessions, approvals, status. Calls go through a tool client.
 *
 * A refusal becomes a ToolError with the host's code, message and details, and the status as `details.status`.
 */
import { z } from 'zod';
import {
  type ChildOpened,
  childOpenedSchema,
  type DetachChildBody,
  type OpenChildBody,
  type SessionUsage,
  usageSchema,
} from '../envelopes/children.ts';
import type { ErrorMessage } from '../envelopes/from-host/error-message.ts';
import { errorMessageSchema } from '../envelopes/from-host/error-message.ts';
import { type ToolResponse, toolResponseSchema } from '../envelopes/from-host/tool-response.ts';
import {
  type OpenSessionBody,
  type SessionInfo,
  type SessionOpened,
  sessionInfoSchema,
  sessionOpenedSchema,
} from '../envelopes/sessions.ts';
import {
  type AnswerApprovalBody,
  type ApprovalAnswered,
  approvalAnsweredSchema,
  type PendingApproval,
  pendingApprovalSchema,
} from '../http/approvals.ts';
import { type PlanProposal, type PlanVerdict, planVerdictSchema } from '../http/plans.ts';
import { callStateSchema, type HostStatus, hostStatusSchema } from '../http/status.ts';
import { type ToolList, toolListSchema } from '../http/tools.ts';
import { fromErrorMessage } from './error-messages.ts';
import {
  badAnswer,
  HostWire,
  type HostWireOptions,
  isSuccess,
  parseJson,
  readRefusal,
  type WireAnswer,
} from './host-wire.ts';

export type HostClientOptions = HostWireOptions;

export type CallState =
  | { readonly state: 'running' }
  | { readonly state: 'answered'; readonly answer: ToolResponse | ErrorMessage };

export interface HostClient {
  openSession(body?: OpenSessionBody): Promise<SessionOpened>;
  sessions(): Promise<readonly SessionInfo[]>;
  session(sessionId: string): Promise<SessionInfo>;
  /** Resolves when the session has ended: after its running calls, or once they are cancelled. */
  closeSession(sessionId: string, options?: CloseSessionOptions): Promise<void>;
  /** A session that can do less than this one, with a token of its own. */
  openChild(sessionId: string, body: OpenChildBody): Promise<ChildOpened>;
  /** Those that are open. */
  children(sessionId: string): Promise<readonly SessionInfo[]>;
  /** Like `closeSession`, for a child; resolves with what it used. */
  endChild(childId: string, options?: CloseSessionOptions): Promise<SessionUsage>;
  detachChild(childId: string, body: DetachChildBody): Promise<void>;
  tools(sessionId: string): Promise<ToolList>;
  approvals(): Promise<readonly PendingApproval[]>;
  answerApproval(approvalId: string, body: AnswerApprovalBody): Promise<ApprovalAnswered>;
  /** What the gates and the coordinator would say to these calls. */
  propose(sessionId: string, plan: PlanProposal): Promise<PlanVerdict>;
  /** Rejects with reason `never_received` or `answer_gone` when there is no answer to be had. */
  callState(sessionId: string, requestId: string): Promise<CallState>;
  status(): Promise<HostStatus>;
  /** The host stops after its running calls. */
  drain(): Promise<void>;
}

export interface CloseSessionOptions {
  readonly mode?: 'wait' | 'cancel';
  readonly signal?: AbortSignal;
}

const callAnswerSchema = z.union([
  callStateSchema.transform((): CallState => ({ state: 'running' })),
  z.union([toolResponseSchema, errorMessageSchema]).transform((answer): CallState => ({ state: 'answered', answer })),
]);

export function createHostClient(options: HostClientOptions): HostClient {
  const wire = new HostWire(options);

  async function ask(method: string, path: string, request: { body?: object; signal?: AbortSignal } = {}) {
    const answer = await wire.ask(method, path, request);
    if (!isSuccess(answer.status)) throw fromErrorMessage(readRefusal(answer));
    return answer;
  }

  async function read<Schema extends z.ZodType>(
    schema: Schema,
    [method, path]: readonly [string, string],
    body?: object,
  ): Promise<z.infer<Schema>> {
    return parse(schema, await ask(method, path, body === undefined ? {} : { body }));
  }

  const sessionPath = (sessionId: string): string => `/v1/sessions/${encodeURIComponent(sessionId)}`;
  const end = (sessionId: string, { mode = 'wait', signal }: CloseSessionOptions = {}): Promise<WireAnswer> =>
    ask('DELETE', `${sessionPath(sessionId)}?mode=${mode}`, signal === undefined ? {} : { signal });
  return {
    openSession: (body = {}) => read(sessionOpenedSchema, ['POST', '/v1/sessions'], body),
    sessions: async () => (await read(sessionListSchema, ['GET', '/v1/sessions'])).sessions,
    session: (sessionId) => read(sessionInfoSchema, ['GET', sessionPath(sessionId)]),
    async closeSession(sessionId, options) {
      await end(sessionId, options);
    },
    openChild: (sessionId, body) => read(childOpenedSchema, ['POST', `${sessionPath(sessionId)}/children`], body),
    children: async (sessionId) =>
      (await read(childListSchema, ['GET', `${sessionPath(sessionId)}/children`])).children,
    endChild: async (childId, options) => parse(usageSchema, await end(childId, options)),
    async detachChild(childId, body) {
      await ask('POST', `${sessionPath(childId)}/detach`, { body });
    },
    tools: (sessionId) => read(toolListSchema, ['GET', `/v1/tools?session_id=${encodeURIComponent(sessionId)}`]),
    approvals: async () => (await read(approvalListSchema, ['GET', '/v1/approvals'])).approvals,
    answerApproval: (approvalId, body) =>
      read(approvalAnsweredSchema, ['POST', `/v1/approvals/${encodeURIComponent(approvalId)}`], body),
    propose: (sessionId, plan) => read(planVerdictSchema, ['POST', `${sessionPath(sessionId)}/plans`], plan),
    callState: (sessionId, requestId) =>
      read(callAnswerSchema, ['GET', `${sessionPath(sessionId)}/calls/${encodeURIComponent(requestId)}`]),
    status: () => read(hostStatusSchema, ['GET', '/v1/status']),
    async drain() {
      await ask('POST', '/v1/drain');
    },
  };
}

function parse<Schema extends z.ZodType>(schema: Schema, { status, text }: WireAnswer): z.infer<Schema> {
  const parsed = schema.safeParse(parseJson(text));
  if (!parsed.success) throw badAnswer(status);
  return parsed.data;
}

const childListSchema = z.strictObject({ children: z.array(sessionInfoSchema).readonly() });
const sessionListSchema = z.strictObject({ sessions: z.array(sessionInfoSchema).readonly() });
const approvalListSchema = z.strictObject({ approvals: z.array(pendingApprovalSchema).readonly() });
