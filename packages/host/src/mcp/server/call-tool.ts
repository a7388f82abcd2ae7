/** tools/call: one governed call, its progress, its questions, its cancellation. */
import type {
  CallToolRequest,
  CallToolResult,
  ClientCapabilities,
  InputRequiredResult,
  LoggingLevel,
  ServerContext,
} from '@modelcontextprotocol/server';
import type { JsonObject, ToolResponse } from '@tool-runtime/protocol';
import { toolNames } from '../../sessions/child-messages.ts';
import type { ServedSession } from '../../sessions/served-session.ts';
import { CALL_TOOL_NAME, readNamedCall } from '../profiles/call-tool-definition.ts';
import { readChildCall, readChildClose, readChildOpen } from '../profiles/child-tool-definitions.ts';
import { CHILD_CALL_NAME, CHILD_CLOSE_NAME, CHILD_OPEN_NAME } from '../profiles/child-tool-names.ts';
import { isStructured } from '../profiles/profiles.ts';
import { runToolSearch, SEARCH_TOOL_NAME } from '../profiles/search-tool.ts';
import {
  abilitiesOf,
  answersTo,
  askBack,
  askNow,
  canAnswer,
  cannotBeAsked,
  isModern,
  refuseMissingAbility,
} from './ask-client.ts';
import { type CreatedTask, declaresTasks, requireTasks, TASK_AFTER_MS } from './call-tasks.ts';
import type { OpenQuestion, Step } from './client-questions.ts';
import type { CallState, ClientIdentity, McpBackend } from './mcp-backend.ts';
import { beginCall, type McpCall } from './mcp-call.ts';
import { MAX_STRUCTURE_BYTES, toDataResult, toRefusal, toToolResult } from './tool-result.ts';

export interface CallerFacts {
  readonly client: ClientIdentity;
  /** What a 2025 client said when it connected. */
  readonly abilities: ClientCapabilities | undefined;
  /** From which level on it wants to hear what goes on; undefined: it did not ask. */
  readonly logLevel: LoggingLevel | undefined;
}

export async function callTool(
  params: CallToolRequest['params'],
  ctx: ServerContext,
  backend: McpBackend,
  caller: CallerFacts,
): Promise<CallToolResult | InputRequiredResult | CreatedTask> {
  if (params.name === SEARCH_TOOL_NAME) return search(params.arguments ?? {}, backend);
  if (isChildTool(params, backend)) return answerChildTool(params, backend, caller.client);
  const state = ctx.mcpReq.requestState<CallState>();
  const target = targetOf(params, backend);
  if ('isError' in target) return target;
  if (backend.needsTask(target.params.name)) requireTasks(ctx);
  const call =
    state === undefined ? await startCall(target, ctx, backend, caller) : resumeCall(state, ctx, backend, caller);
  const finish = (response: ToolResponse): Promise<CallToolResult> => {
    refuseMissingAbility(response, ctx);
    return resultOf(call, response, backend);
  };
  const limit = declaresTasks(ctx) && backend.tasks.hasRoom() ? AbortSignal.timeout(TASK_AFTER_MS) : undefined;
  const result = await followCall(call, ctx, backend, caller, limit);
  if ('asks' in result) return result.asks;
  if ('response' in result) return finish(result.response);
  // The end of the request is not the end of the call.
  call.release();
  return backend.tasks.begin({ call, abilities: abilitiesOf(ctx, undefined), finish });
}

async function resultOf(
  { tool, served }: McpCall,
  response: ToolResponse,
  backend: McpBackend,
): Promise<CallToolResult> {
  const answer = served.session.present({ tool: tool.name, args: tool.args }, response);
  const found = backend.tools.find(tool.name);
  const listing = found instanceof Promise ? await found : found;
  const hasStructure = isStructured(listing ?? { hasLargeAnswers: false }, backend.profile);
  const structureBytes = backend.profile.form === 'structured' ? MAX_STRUCTURE_BYTES : answer.maxBytes;
  return toToolResult(response, {
    answer,
    structureBytes: hasStructure ? structureBytes : undefined,
    present: backend.present(tool.name),
  });
}

async function search(args: object, backend: McpBackend): Promise<CallToolResult> {
  try {
    return toDataResult({
      ...runToolSearch(await backend.tools.all(), args, (listing) => backend.profile.shows(listing)),
    } as JsonObject);
  } catch (thrown) {
    return toRefusal(thrown);
  }
}

/** Where a call goes: to the session of this connection, unless it names a child. */
interface CallTarget {
  readonly params: CallToolRequest['params'];
  readonly served?: ServedSession;
}

/** `tool_call` is another way to write the call of the tool it names, and `child_call` the same in a child's session. */
function targetOf(
  params: CallToolRequest['params'],
  backend: McpBackend,
): CallTarget | (CallToolResult & { isError: true }) {
  try {
    if (params.name !== CALL_TOOL_NAME) return readChildTarget(params, backend) ?? { params };
    const { tool, args } = readNamedCall(params.arguments);
    return { params: { name: tool, arguments: args } };
  } catch (thrown) {
    return toRefusal(thrown);
  }
}

async function startCall(
  { params, served }: CallTarget,
  ctx: ServerContext,
  backend: McpBackend,
  caller: CallerFacts,
): Promise<McpCall> {
  const tool = { name: params.name, args: (params.arguments ?? {}) as JsonObject, meta: ctx.mcpReq._meta };
  const session = served ?? (await backend.session(caller.client));
  return beginCall(tool, session, backend, (call) => call.bind(ctx, caller.logLevel));
}

function resumeCall(
  { call: callId, question }: CallState,
  ctx: ServerContext,
  backend: McpBackend,
  caller: CallerFacts,
): McpCall {
  const call = backend.waiting.take(callId) as McpCall;
  call.bind(ctx, caller.logLevel);
  call.areAnswersNew = false;
  const asked = call.find(question);
  const answers = asked === undefined ? undefined : answersTo(asked, ctx);
  if (answers !== undefined) asked?.answer(answers);
  return call;
}

type Followed =
  | { readonly response: ToolResponse }
  | { readonly asks: InputRequiredResult }
  | { readonly isLong: true };

async function followCall(
  call: McpCall,
  ctx: ServerContext,
  backend: McpBackend,
  caller: CallerFacts,
  limit: AbortSignal | undefined,
): Promise<Followed> {
  let asking: AbortController | undefined;
  try {
    for (;;) {
      const step = await nextStep(call, limit);
      if (step === undefined) return { isLong: true };
      if (step.type === 'answered') return { response: step.response };
      const { question } = step;
      if (!canAnswer(question.questions, abilitiesOf(ctx, caller.abilities))) {
        question.refuse(cannotBeAsked(question));
        // The refusal has to reach the tool that asked before we look again.
        await Promise.resolve();
      } else if (!isModern(ctx)) {
        asking ??= new AbortController();
        void askNow(question, ctx, asking.signal);
      } else if (!isAnsweredAlready(question, call, ctx)) {
        backend.waiting.keep(call);
        call.release();
        return { asks: await askBack(call.id, question, ctx, backend) };
      }
    }
  } finally {
    // The call is over: the client need not answer what it is still being asked.
    asking?.abort();
  }
}

/** Undefined when the limit comes first. */
function nextStep(call: McpCall, limit: AbortSignal | undefined): Promise<Step | undefined> {
  if (limit === undefined) return call.next();
  const passed = new Promise<undefined>((resolve) => {
    limit.addEventListener('abort', () => resolve(undefined), { once: true });
  });
  return limit.aborted ? Promise.resolve(undefined) : Promise.race([call.next(), passed]);
}

/** Only questions of tools: an approval is the answer to a question that was seen. */
function isAnsweredAlready(question: OpenQuestion, call: McpCall, ctx: ServerContext): boolean {
  const answers = call.areAnswersNew && question.kind === 'tool' ? answersTo(question, ctx) : undefined;
  call.areAnswersNew = false;
  if (answers !== undefined) question.answer(answers);
  return answers !== undefined;
}

function isChildTool({ name }: CallToolRequest['params'], { profile }: McpBackend): boolean {
  return (name === CHILD_OPEN_NAME || name === CHILD_CLOSE_NAME) && profile.offers(name);
}

async function answerChildTool(
  { name, arguments: args = {} }: CallToolRequest['params'],
  backend: McpBackend,
  client: ClientIdentity,
): Promise<CallToolResult> {
  try {
    if (name === CHILD_OPEN_NAME) return toDataResult(await open(args, backend, client));
    const { session_id, cancel } = readChildClose(args);
    return toDataResult({ ...(await backend.children.end(session_id, { cancel })) });
  } catch (thrown) {
    return toRefusal(thrown);
  }
}

async function open(args: object, backend: McpBackend, client: ClientIdentity): Promise<JsonObject> {
  const child = await backend.children.open(client, readChildOpen(args));
  return {
    session_id: child.id,
    agent_id: child.agentId,
    tools: toolNames(child),
    manifest: { ...child.manifest } as unknown as JsonObject,
  };
}

interface ChildCall {
  readonly params: CallToolRequest['params'];
  readonly served: ServedSession;
}

/** Undefined for what is no child_call; throws ToolError for one that does not fit or names no child of this connection. */
function readChildTarget(
  { name, arguments: args }: CallToolRequest['params'],
  backend: McpBackend,
): ChildCall | undefined {
  if (name !== CHILD_CALL_NAME || !backend.profile.offers(name)) return undefined;
  const { session_id, tool, args: toolArgs } = readChildCall(args);
  return { params: { name: tool, arguments: toolArgs }, served: backend.children.find(session_id) };
}
