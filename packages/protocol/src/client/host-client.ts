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
import type { EventMessage } from '../envelopes/from-host/event-message.ts';
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
import {
  type ConsoleLink,
  type ConsoleLinkBody,
  type ConsoleSession,
  consoleLinkSchema,
  consoleSessionSchema,
  type SignedIn,
  signedInSchema,
} from '../http/console.ts';
import { type FleetState, fleetStateSchema } from '../http/fleet.ts';
import {
  callStateSchema,
  type HostStatus,
  hostStatusSchema,
  type ToolList,
  toolListSchema,
} from '../http/host-info.ts';
import { type MetricsHistory, metricsHistorySchema, type RegistryView, registryViewSchema } from '../http/insight.ts';
import {
  type ApproveToolsBody,
  type MountedServers,
  mountedServersSchema,
  type ToolsApproved,
  toolsApprovedSchema,
  type WaitingTools,
  waitingToolsSchema,
} from '../http/mcp-servers.ts';
import { type PlanProposal, type PlanVerdict, planVerdictSchema } from '../http/plans.ts';
import {
  type CheckBody,
  type DiffBody,
  type ExplainBody,
  explanationSchema,
  type PolicyCheck,
  type PolicyDiff,
  type PolicyExplanation,
  type PolicySimulation,
  type PolicySuggestion,
  policyCheckSchema,
  policyDiffSchema,
  type SimulateBody,
  type SuggestBody,
  simulationSchema,
  suggestionSchema,
} from '../http/policy.ts';
import {
  type CallDetail,
  type CallPage,
  callDetailSchema,
  callPageSchema,
  type Families,
  familiesSchema,
  type JournalState,
  type JournalVerdict,
  journalStateSchema,
  journalVerdictSchema,
  type RecordFilter,
  type RecordPage,
  type RecordQuery,
  recordPageSchema,
  type VerifyBody,
} from '../http/records.ts';
import type { JsonObject } from '../primitives/errors.ts';
import { fromErrorMessage } from './error-messages.ts';
import { EventFeed } from './event-feed.ts';
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
  /** Without a session: what a new one would get. */
  tools(sessionId?: string): Promise<ToolList>;
  /** One call over one request. Programs that make many use a tool client. */
  call(sessionId: string, call: SingleCall): Promise<ToolResponse | ErrorMessage>;
  approvals(): Promise<readonly PendingApproval[]>;
  answerApproval(approvalId: string, body: AnswerApprovalBody): Promise<ApprovalAnswered>;
  /** What the gates and the coordinator would say to these calls. */
  propose(sessionId: string, plan: PlanProposal): Promise<PlanVerdict>;
  /** What every gate would say to this call, and the smallest change of the registry that would turn the answer. */
  explainPolicy(body: ExplainBody): Promise<PolicyExplanation>;
  /** Whether the examples of the registry in force, or of another one, hold. */
  checkPolicy(body?: CheckBody): Promise<PolicyCheck>;
  /** What another registry would have answered to the recorded calls. */
  simulatePolicy(body: SimulateBody): Promise<PolicySimulation>;
  /** The narrowest registry that would have allowed what was recorded and approved. */
  suggestPolicy(body?: SuggestBody): Promise<PolicySuggestion>;
  /** What two registries answer differently. */
  diffPolicy(body: DiffBody): Promise<PolicyDiff>;
  /** Rejects with reason `never_received` or `answer_gone` when there is no answer to be had. */
  callState(sessionId: string, requestId: string): Promise<CallState>;
  status(): Promise<HostStatus>;
  /** Records of the journal, newest first. Needs the scope audit, like everything here that is about all sessions. */
  records(query?: RecordQuery): Promise<RecordPage>;
  calls(query?: RecordQuery): Promise<CallPage>;
  /** All that match, as text: JSON lines by default. */
  exportRecords(query?: RecordFilter & { readonly format?: 'jsonl' | 'csv' | 'sarif' }): Promise<string>;
  callDetail(callId: string, workspace?: string): Promise<CallDetail>;
  families(query?: Readonly<{ workspace?: string; limit?: number }>): Promise<Families>;
  journal(workspace?: string): Promise<JournalState>;
  /** Checks the whole chain. */
  verifyJournal(body?: VerifyBody): Promise<JournalVerdict>;
  /** The values in force, each with the line that says so. */
  registry(workspace?: string): Promise<RegistryView>;
  metricsHistory(): Promise<MetricsHistory>;
  /** Servers, streams and hosts of the fleet that the host is part of. Rejects with reason `no_fleet` when it is in none. */
  fleet(): Promise<FleetState>;
  /** MCP servers that the registry mounts, with the state of their tools. */
  mcpServers(workspace?: string): Promise<MountedServers>;
  /** What of a mounted server waits for approval. */
  waitingTools(server: string, workspace?: string): Promise<WaitingTools>;
  /** Asks a fresh instance of a mounted server for its tools. */
  refreshMcpServer(server: string, workspace?: string): Promise<WaitingTools>;
  /** Rejects with reason `definition_changed` when another version waits than the one that was looked at. */
  approveTools(server: string, body: ApproveToolsBody): Promise<ToolsApproved>;
  /** Events of every session, until `signal` aborts; comes back after drops with the last id. */
  activity(options: ActivityOptions): Promise<void>;
  consoleLink(body?: ConsoleLinkBody): Promise<ConsoleLink>;
  /** For the console's own page. */
  signIn(code: string): Promise<SignedIn>;
  consoleSession(): Promise<ConsoleSession>;
  signOut(): Promise<void>;
  /** The host stops after its running calls. */
  drain(): Promise<void>;
}

export interface SingleCall {
  readonly tool: string;
  readonly args: JsonObject;
}

export interface ActivityOptions {
  /** The last event that was seen. */
  readonly after?: number;
  /** `CallsChanged` then names the calls that changed (`callsChangedSchema`). */
  readonly calls?: boolean;
  readonly signal: AbortSignal;
  onEvent(event: EventMessage): void;
  /** Also after every return. */
  onOpen?(): void;
  onBreak?(): void;
}

export interface CloseSessionOptions {
  readonly mode?: 'wait' | 'cancel';
  readonly signal?: AbortSignal;
}

const callAnswer = z.union([toolResponseSchema, errorMessageSchema]);
const callAnswerSchema = z.union([
  callStateSchema.transform((): CallState => ({ state: 'running' })),
  callAnswer.transform((answer): CallState => ({ state: 'answered', answer })),
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
    tools: (sessionId) => read(toolListSchema, ['GET', `/v1/tools${search({ session_id: sessionId })}`]),
    call: (sessionId, { tool, args }) =>
      read(callAnswer, ['POST', '/v1/call'], {
        ...{ type: 'ToolRequest', session_id: sessionId, request_id: `once-${crypto.randomUUID()}` },
        ...{ timestamp: Math.floor(Date.now() / 1000), tool, args },
      }),
    approvals: async () => (await read(approvalListSchema, ['GET', '/v1/approvals'])).approvals,
    answerApproval: (approvalId, body) =>
      read(approvalAnsweredSchema, ['POST', `/v1/approvals/${encodeURIComponent(approvalId)}`], body),
    propose: (sessionId, plan) => read(planVerdictSchema, ['POST', `${sessionPath(sessionId)}/plans`], plan),
    explainPolicy: (body) => read(explanationSchema, ['POST', '/v1/policy/explain'], body),
    checkPolicy: (body = {}) => read(policyCheckSchema, ['POST', '/v1/policy/check'], body),
    simulatePolicy: (body) => read(simulationSchema, ['POST', '/v1/policy/simulate'], body),
    suggestPolicy: (body = {}) => read(suggestionSchema, ['POST', '/v1/policy/suggest'], body),
    diffPolicy: (body) => read(policyDiffSchema, ['POST', '/v1/policy/diff'], body),
    callState: (sessionId, requestId) =>
      read(callAnswerSchema, ['GET', `${sessionPath(sessionId)}/calls/${encodeURIComponent(requestId)}`]),
    status: () => read(hostStatusSchema, ['GET', '/v1/status']),
    records: (query = {}) => read(recordPageSchema, ['GET', `/v1/records${search(query)}`]),
    calls: (query = {}) => read(callPageSchema, ['GET', `/v1/calls${search(query)}`]),
    exportRecords: async (query = {}) => (await ask('GET', `/v1/records/export${search(query)}`)).text,
    callDetail: (callId, workspace) =>
      read(callDetailSchema, ['GET', `/v1/calls/${encodeURIComponent(callId)}${search({ workspace })}`]),
    families: (query = {}) => read(familiesSchema, ['GET', `/v1/families${search(query)}`]),
    journal: (workspace) => read(journalStateSchema, ['GET', `/v1/journal${search({ workspace })}`]),
    verifyJournal: (body = {}) => read(journalVerdictSchema, ['POST', '/v1/journal/verify'], body),
    registry: (workspace) => read(registryViewSchema, ['GET', `/v1/registry${search({ workspace })}`]),
    metricsHistory: () => read(metricsHistorySchema, ['GET', '/v1/metrics/history']),
    fleet: () => read(fleetStateSchema, ['GET', '/v1/fleet']),
    mcpServers: (workspace) => read(mountedServersSchema, ['GET', `/v1/mcp/servers${search({ workspace })}`]),
    waitingTools: (server, workspace) =>
      read(waitingToolsSchema, ['GET', `${mcpServerPath(server)}/waiting${search({ workspace })}`]),
    refreshMcpServer: (server, workspace) =>
      read(
        waitingToolsSchema,
        ['POST', `${mcpServerPath(server)}/refresh`],
        workspace === undefined ? {} : { workspace },
      ),
    approveTools: (server, body) => read(toolsApprovedSchema, ['POST', `${mcpServerPath(server)}/approve`], body),
    activity: (options) => followActivity(wire, options),
    consoleLink: (body = {}) => read(consoleLinkSchema, ['POST', '/v1/console/links'], body),
    signIn: (code) => read(signedInSchema, ['POST', '/v1/console/sign-in'], { code }),
    consoleSession: () => read(consoleSessionSchema, ['GET', '/v1/console/session']),
    async signOut() {
      await ask('POST', '/v1/console/sign-out');
    },
    async drain() {
      await ask('POST', '/v1/drain');
    },
  };
}

function mcpServerPath(server: string): string {
  return `/v1/mcp/servers/${encodeURIComponent(server)}`;
}

function search(query: Readonly<Record<string, unknown>>): string {
  const given = Object.entries(query).filter(([, value]) => value !== undefined && value !== '');
  const texts = Object.fromEntries(given.map(([name, value]) => [name, String(value)]));
  return given.length === 0 ? '' : `?${new URLSearchParams(texts)}`;
}

async function followActivity(wire: HostWire, options: ActivityOptions): Promise<void> {
  const { signal, onEvent, onOpen, onBreak } = options;
  const feed = new EventFeed({
    wire,
    path: options.calls === true ? '/v1/activity?calls=true' : '/v1/activity',
    after: options.after,
    onBreak: () => onBreak?.(),
    onReturn: () => onOpen?.(),
    deliver(message) {
      if (message.type === 'EventMessage') onEvent(message);
      else if (message.type === 'ErrorMessage') failed.reject(fromErrorMessage(message));
    },
  });
  const failed = Promise.withResolvers<void>();
  signal.addEventListener('abort', () => failed.resolve(), { once: true });
  try {
    await feed.start(() => onOpen?.());
    await failed.promise;
  } finally {
    feed.stop();
  }
}

function parse<Schema extends z.ZodType>(schema: Schema, { status, text }: WireAnswer): z.infer<Schema> {
  const parsed = schema.safeParse(parseJson(text));
  if (!parsed.success) throw badAnswer(status);
  return parsed.data;
}

const childListSchema = z.strictObject({ children: z.array(sessionInfoSchema).readonly() });
const sessionListSchema = z.strictObject({ sessions: z.array(sessionInfoSchema).readonly() });
const approvalListSchema = z.strictObject({ approvals: z.array(pendingApprovalSchema).readonly() });
