/**
 * Every request that was sent and everything that was heard of it. This is the judge of the wire: one terminal message
 * for each request, no event after it, no unsolicited answers.
 */
import {
  type ErrorMessage,
  type JsonObject,
  type ServerMessage,
  serverMessageSchema,
  type ToolRequest,
  type ToolResponse,
} from '@tool-runtime/protocol';
import type { Problems } from './problems.ts';

export type TransportName = 'websocket' | 'http' | 'lines' | 'mcp';
export type Terminal = ToolResponse | ErrorMessage;

/** What is sent, and what it should lead to. */
export interface CallPlan {
  /** For the figures: the tool, or what is special about the call. */
  readonly kind: string;
  readonly tool: string;
  readonly args: JsonObject;
  readonly key?: string;
  /** Sends a cancel so long after the request. */
  readonly cancelAfterMs?: number;
  /** Says what is wrong with the answer, if anything is. */
  judge(answer: ToolResponse): string | undefined;
  /** Says what is wrong with being refused at the entrance. Left out: that such a refusal came at all. */
  judgeRefusal?(answer: ErrorMessage): string | undefined;
  /** Hears what became of it: the answer, or nothing when the connection broke first. */
  settle?(answer: ToolResponse | undefined): void;
}

/** One session on one connection; messages that come in go to `CallBook.hear`. */
export interface Sender {
  readonly transport: TransportName;
  readonly sessionId: string;
  send(text: string, requestId: string): void;
}

export interface SentCall {
  readonly requestId: string;
  readonly sessionId: string;
  readonly transport: TransportName;
  readonly plan: CallPlan;
  readonly sentAt: number;
  state: 'open' | 'answered' | 'lost';
  /** Of an answered call: whether it worked, or that it never became a call at all. */
  outcome?: 'ok' | 'failed' | 'error';
  millis?: number;
}

/** Every so many messages one is checked against its schema; all of them would make the client the slow part. */
const SCHEMA_STRIDE = 64;

export class CallBook {
  readonly calls = new Map<string, SentCall>();
  readonly #problems: Problems;
  readonly #waiting = new Map<string, (answer: Terminal | undefined) => void>();
  readonly #sessions = new Set<string>();
  #heard = 0;
  events = 0;
  eventsMissed = 0;

  constructor(problems: Problems) {
    this.#problems = problems;
  }

  get open(): number {
    return this.#waiting.size;
  }

  get sessions(): number {
    return this.#sessions.size;
  }

  opened(sessionId: string): void {
    if (this.#sessions.has(sessionId)) this.#problems.add(`session opened twice: ${sessionId}`);
    this.#sessions.add(sessionId);
  }

  /** Resolves when it is answered or its connection is gone. */
  async make(plan: CallPlan, sender: Sender): Promise<void> {
    const requestId = `request-${this.calls.size + 1}`;
    const { sessionId, transport } = sender;
    const call: SentCall = { requestId, sessionId, transport, plan, sentAt: performance.now(), state: 'open' };
    this.calls.set(requestId, call);
    const answered = new Promise<Terminal | undefined>((resolve) => this.#waiting.set(requestId, resolve));
    sender.send(JSON.stringify(requestOf(call)), requestId);
    const stopCancelling = cancelLater(call, sender);
    const answer = await answered;
    stopCancelling();
    if (answer === undefined) plan.settle?.(undefined);
    else this.#judge(call, answer);
  }

  /** One message that came in. */
  hear(text: string): void {
    const message = JSON.parse(text) as ServerMessage;
    if (this.#heard++ % SCHEMA_STRIDE === 0) this.#checkSchema(message);
    if (message.type === 'ToolResponse' || message.type === 'ErrorMessage') this.#answer(message);
    else if (message.type === 'EventMessage') this.#event(message.event, message.request_id);
  }

  /** The connection broke: whatever is open on it will not be answered any more. */
  lose(isLost: (call: SentCall) => boolean): void {
    for (const [requestId, resolve] of [...this.#waiting]) {
      const call = this.calls.get(requestId);
      if (call === undefined || !isLost(call)) continue;
      call.state = 'lost';
      this.#waiting.delete(requestId);
      resolve(undefined);
    }
  }

  #answer(message: Terminal): void {
    const call = message.request_id === null ? undefined : this.calls.get(message.request_id);
    const resolve = this.#waiting.get(call?.requestId ?? '');
    // Given up by us; the host could not know.
    if (call?.state === 'lost') return;
    if (call === undefined || resolve === undefined) {
      this.#problems.add(`answer that nobody waits for, or a second one: ${JSON.stringify(message).slice(0, 300)}`);
      return;
    }
    this.#waiting.delete(call.requestId);
    call.state = 'answered';
    call.millis = performance.now() - call.sentAt;
    resolve(message);
  }

  #judge(call: SentCall, answer: Terminal): void {
    const { plan } = call;
    call.outcome = answer.type === 'ErrorMessage' ? 'error' : answer.ok ? 'ok' : 'failed';
    const problem = answer.type === 'ErrorMessage' ? refusalProblem(plan, answer) : plan.judge(answer);
    if (problem !== undefined) {
      this.#problems.add(`${plan.kind} over ${call.transport} ${problem}: ${JSON.stringify(answer).slice(0, 400)}`);
    }
    plan.settle?.(answer.type === 'ErrorMessage' ? undefined : answer);
  }

  #event(event: string, requestId: string): void {
    this.events += 1;
    if (event === 'EventsMissed') this.eventsMissed += 1;
    if (this.#sessions.has(requestId)) return;
    const call = this.calls.get(requestId);
    if (call === undefined) this.#problems.add(`event ${event} of nothing: ${requestId}`);
    else if (call.state === 'answered') this.#problems.add(`event ${event} after the answer of ${requestId}`);
  }

  #checkSchema(message: ServerMessage): void {
    const { error } = serverMessageSchema.safeParse(message);
    if (error !== undefined) this.#problems.add(`message against its schema: ${error.message.slice(0, 300)}`);
  }
}

function refusalProblem(plan: CallPlan, answer: ErrorMessage): string | undefined {
  return plan.judgeRefusal === undefined ? 'is no call to the host' : plan.judgeRefusal(answer);
}

function requestOf({ requestId, sessionId, plan }: SentCall): ToolRequest {
  return {
    type: 'ToolRequest',
    tool: plan.tool,
    args: plan.args,
    request_id: requestId,
    session_id: sessionId,
    timestamp: Math.floor(Date.now() / 1000),
    ...(plan.key === undefined ? {} : { idempotency_key: plan.key }),
  };
}

/** Requests travel on several connections over HTTP, where a cancel may overtake its call: there it is said again. */
function cancelLater({ requestId, sessionId, plan, transport }: SentCall, sender: Sender): () => void {
  if (plan.cancelAfterMs === undefined) return () => {};
  const message = { type: 'CancelRequest', request_id: requestId, session_id: sessionId, timestamp: 0 };
  const send = (): void => sender.send(JSON.stringify(message), '');
  const timer = transport === 'http' ? setInterval(send, plan.cancelAfterMs + 1) : setTimeout(send, plan.cancelAfterMs);
  return () => clearTimeout(timer);
}
