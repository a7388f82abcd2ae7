/**
 * The tasks extension of MCP (2026): a call that takes long is answered with a task. The client looks at it with
 * `tasks/get`, answers its questions with `tasks/update` and ends it with `tasks/cancel`.
 *
 * A task is the running call and nothing more: policy, journal, limits and cancellation are those of the call. Clients
 * that do not declare the extension get the answer of the call itself, as before.
 */
import { randomUUID } from 'node:crypto';
import {
  type CallToolResult,
  type ClientCapabilities,
  MissingRequiredClientCapabilityError,
  ProtocolError,
  type Result,
  type ServerContext,
} from '@modelcontextprotocol/server';
import { isJsonObject, type JsonObject, type ToolResponse, toToolError } from '@tool-runtime/protocol';
import { abilitiesOf, canAnswer, cannotBeAsked, isModern } from './ask-client.ts';
import type { OpenQuestion } from './client-questions.ts';
import type { McpCall } from './mcp-call.ts';

export const TASKS_EXTENSION = 'io.modelcontextprotocol/tasks';
/** A call that ends sooner is answered at once. */
export const TASK_AFTER_MS = 750;

const POLL_MS = 1000;
/** Longer than any tool may run. */
const TTL_MS = 3_600_000;
/** Calls that find no place are answered when they end. */
const MAX_TASKS = 128;
const METHOD_NOT_FOUND = -32_601;
const INVALID_PARAMS = -32_602;
const INTERNAL = -32_603;

type Status = 'working' | 'input_required' | 'completed' | 'failed' | 'cancelled';

interface TaskFacts extends Record<string, unknown> {
  readonly taskId: string;
  readonly status: Status;
  readonly createdAt: string;
  readonly lastUpdatedAt: string;
  readonly ttlMs: number;
  readonly pollIntervalMs: number;
}

/** The answer to `tools/call`. */
export type CreatedTask = Result & TaskFacts & { readonly resultType: 'task' };

/** The outcome of the call: its result, or the error of the protocol that its caller would have got. */
type Outcome =
  | { readonly result: CallToolResult; readonly isOk: boolean }
  | { readonly error: { readonly code: number; readonly message: string; readonly data?: unknown } };

/** How a call ends as a task; `finish` makes its result, and throws what is an error of the protocol. */
export interface LongCall {
  readonly call: McpCall;
  /** Of the client, with the request that became the task. */
  readonly abilities: ClientCapabilities;
  finish(response: ToolResponse): Promise<CallToolResult>;
}

export function isCreatedTask(result: Result): result is CreatedTask {
  return (result as Partial<CreatedTask>).resultType === 'task';
}

export function declaresTasks(ctx: ServerContext): boolean {
  if (!isModern(ctx)) return false;
  const { extensions } = abilitiesOf(ctx, undefined) as { readonly extensions?: object };
  return extensions !== undefined && Object.hasOwn(extensions, TASKS_EXTENSION);
}

/** The methods of the extension are there for clients that declare it. */
export function refuseUndeclared(ctx: ServerContext): void {
  if (!isModern(ctx)) throw new ProtocolError(METHOD_NOT_FOUND, 'Method not found');
  requireTasks(ctx);
}

/** Throws for a client of 2026 that does not declare the extension. Clients of 2025 cannot, and wait for the answer. */
export function requireTasks(ctx: ServerContext): void {
  if (!isModern(ctx) || declaresTasks(ctx)) return;
  const requiredCapabilities = { extensions: { [TASKS_EXTENSION]: {} } } as ClientCapabilities;
  throw new MissingRequiredClientCapabilityError({ requiredCapabilities });
}

/** The tasks of one backend: no other client can name them. */
export class CallTasks {
  readonly #tasks = new Map<string, CallTask>();

  hasRoom(): boolean {
    const now = Date.now();
    for (const [id, task] of this.#tasks) if (task.isOver(now)) this.#tasks.delete(id);
    return this.#tasks.size < MAX_TASKS;
  }

  begin(long: LongCall): CreatedTask {
    const task = new CallTask(long);
    this.#tasks.set(task.id, task);
    return { resultType: 'task', ...task.facts() };
  }

  find(taskId: string): CallTask {
    const task = this.#tasks.get(taskId);
    if (task === undefined) throw new ProtocolError(INVALID_PARAMS, 'There is no such task, or it has expired');
    return task;
  }
}

class CallTask {
  readonly id = randomUUID();
  readonly #long: LongCall;
  readonly #created = Date.now();
  /** What the client is asked, under names of this task. */
  readonly #asked = new Map<string, { readonly question: OpenQuestion; readonly key: string }>();
  readonly #answers = new Map<OpenQuestion, Record<string, JsonObject>>();
  #updated = this.#created;
  #isCancelled = false;
  #outcome: Outcome | undefined;

  constructor(long: LongCall) {
    this.#long = long;
    void this.#follow();
  }

  facts(): TaskFacts {
    return {
      taskId: this.id,
      status: this.#status(),
      createdAt: new Date(this.#created).toISOString(),
      lastUpdatedAt: new Date(this.#updated).toISOString(),
      ttlMs: TTL_MS,
      pollIntervalMs: POLL_MS,
    };
  }

  /** The answer to `tasks/get`. */
  detail(): Result & TaskFacts {
    const facts = this.facts();
    if (facts.status === 'input_required') return { ...facts, inputRequests: this.#requests() };
    if (this.#outcome === undefined || facts.status === 'cancelled') return facts;
    return 'error' in this.#outcome
      ? { ...facts, error: this.#outcome.error }
      : { ...facts, result: this.#outcome.result };
  }

  /** Names that are not asked, and answers that are not objects, are left alone. */
  update(responses: Readonly<Record<string, unknown>>): void {
    for (const [name, answer] of Object.entries(responses)) {
      const asked = this.#asked.get(name);
      if (asked === undefined || !isJsonObject(answer)) continue;
      this.#asked.delete(name);
      this.#take(asked.question, asked.key, answer);
    }
  }

  cancel(): void {
    if (this.#outcome !== undefined) return;
    this.#isCancelled = true;
    this.#long.call.cancel();
  }

  isOver(now: number): boolean {
    return this.#outcome !== undefined && now > this.#created + TTL_MS;
  }

  #status(): Status {
    const outcome = this.#outcome;
    if (outcome === undefined) return this.#asked.size > 0 ? 'input_required' : 'working';
    if ('error' in outcome) return 'failed';
    return this.#isCancelled && !outcome.isOk ? 'cancelled' : 'completed';
  }

  #requests(): JsonObject {
    return Object.fromEntries(
      Array.from(this.#asked, ([name, { question, key }]) => [name, question.questions[key] as unknown as JsonObject]),
    );
  }

  #take(question: OpenQuestion, key: string, answer: JsonObject): void {
    const answers = { ...this.#answers.get(question), [key]: answer };
    this.#answers.set(question, answers);
    this.#updated = Date.now();
    if (Object.keys(question.questions).every((wanted) => Object.hasOwn(answers, wanted))) question.answer(answers);
  }

  async #follow(): Promise<void> {
    try {
      const response = await this.#answered();
      this.#outcome = { result: await this.#long.finish(response), isOk: response.ok };
    } catch (thrown) {
      this.#outcome = { error: errorOf(thrown) };
    }
    this.#updated = Date.now();
  }

  async #answered(): Promise<ToolResponse> {
    const { call, abilities } = this.#long;
    for (;;) {
      const step = await call.next();
      if (step.type === 'answered') return step.response;
      const { question } = step;
      question.isOut = true;
      this.#updated = Date.now();
      if (!canAnswer(question.questions, abilities)) question.refuse(cannotBeAsked(question));
      else
        for (const key of Object.keys(question.questions)) this.#asked.set(`${question.id}/${key}`, { question, key });
    }
  }
}

function errorOf(thrown: unknown): { readonly code: number; readonly message: string; readonly data?: unknown } {
  if (!(thrown instanceof ProtocolError)) return { code: INTERNAL, message: toToolError(thrown).message };
  const { code, message, data } = thrown;
  return { code, message, ...(data === undefined ? {} : { data }) };
}
