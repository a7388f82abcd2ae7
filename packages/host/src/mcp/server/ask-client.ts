/** How the questions of a call reach its client, in either family, and how its answers come back. */
import {
  CLIENT_CAPABILITIES_META_KEY,
  type ClientCapabilities,
  type InputRequests,
  type InputRequiredResult,
  inputRequired,
  MissingRequiredClientCapabilityError,
  type RequestMethod,
  type ServerContext,
} from '@modelcontextprotocol/server';
import { isJsonObject, type JsonObject, ToolError, type ToolResponse } from '@tool-runtime/protocol';
import type { Answers, OpenQuestion, Questions } from './client-questions.ts';
import type { McpBackend } from './mcp-backend.ts';

const CANNOT_ASK = 'client_cannot_ask';
/** Answers are given by people. */
const ANSWER_MS = 10 * 60_000;

/** Whether requests carry everything about their client, and questions go back with the answer. */
export function isModern(ctx: ServerContext): boolean {
  return ctx.mcpReq.envelope !== undefined;
}

/** 2026: the request ends with the question. */
export async function askBack(
  callId: string,
  { id, questions }: OpenQuestion,
  ctx: ServerContext,
  backend: McpBackend,
): Promise<InputRequiredResult> {
  const requestState = await backend.states.mint({ call: callId, question: id }, ctx);
  return inputRequired({ inputRequests: questions as unknown as InputRequests, requestState });
}

/** 2025: the request stays open. A client that cannot keep its word has not answered. */
export async function askNow(question: OpenQuestion, ctx: ServerContext, signal: AbortSignal): Promise<void> {
  question.isOut = true;
  try {
    const answers = await Promise.all(
      Object.entries(question.questions).map(async ([key, { method, params = {} }]) => {
        const request = { method: method as RequestMethod, params };
        const answer = await ctx.mcpReq.send(request, { timeout: ANSWER_MS, signal });
        return [key, answer as unknown as JsonObject] as const;
      }),
    );
    question.answer(Object.fromEntries(answers));
  } catch (thrown) {
    question.refuse(
      new ToolError('E_POLICY', 'The client did not answer', {
        details: { gate: 'client', reason: 'client_did_not_answer' },
        cause: thrown,
      }),
    );
  }
}

/** What a request brought along. Undefined: a tool's question is still open, because part of the answer is missing. */
export function answersTo({ kind, questions }: OpenQuestion, ctx: ServerContext): Answers | undefined {
  const given = ctx.mcpReq.inputResponses ?? {};
  const answers = Object.keys(questions).map((key): [string, JsonObject | undefined] => {
    const answer = given[key];
    return [key, isJsonObject(answer) ? answer : kind === 'approval' ? { action: 'cancel' } : undefined];
  });
  return answers.some(([, answer]) => answer === undefined) ? undefined : (Object.fromEntries(answers) as Answers);
}

export function cannotBeAsked({ questions }: OpenQuestion): ToolError {
  const required = Object.fromEntries(
    Object.values(questions).map(({ method }) => [method.slice(0, method.indexOf('/')), {}]),
  );
  return new ToolError('E_POLICY', 'This client cannot be asked', {
    details: { gate: 'client', reason: CANNOT_ASK, required },
  });
}

/** Clients of 2026 learn in the words of the protocol what they would have to declare for this tool. */
export function refuseMissingAbility({ errors }: ToolResponse, ctx: ServerContext): void {
  const [error] = errors;
  if (error?.details?.['reason'] !== CANNOT_ASK || !isModern(ctx)) return;
  const requiredCapabilities = error.details['required'] as ClientCapabilities;
  throw new MissingRequiredClientCapabilityError({ requiredCapabilities }, `${error.code}: ${error.message}`);
}

/** 2026 clients say it with every request, 2025 clients once, when they connect. */
export function abilitiesOf(ctx: ServerContext, connected: ClientCapabilities | undefined): ClientCapabilities {
  const envelope = ctx.mcpReq.envelope as Readonly<Record<string, unknown>> | undefined;
  return ((envelope?.[CLIENT_CAPABILITIES_META_KEY] as ClientCapabilities | undefined) ?? connected) || {};
}

export function canAnswer(questions: Questions, abilities: ClientCapabilities): boolean {
  return Object.values(questions).every(({ method, params }) => {
    if (method === 'elicitation/create') return canElicit(abilities, params?.['mode'] === 'url' ? 'url' : 'form');
    if (method === 'sampling/createMessage') return abilities.sampling !== undefined;
    return method === 'roots/list' && abilities.roots !== undefined;
  });
}

/** An empty object is the older way to say that forms can be shown. */
function canElicit({ elicitation }: ClientCapabilities, mode: 'form' | 'url'): boolean {
  if (elicitation === undefined) return false;
  if (mode === 'url') return elicitation.url !== undefined;
  return elicitation.form !== undefined || elicitation.url === undefined;
}
