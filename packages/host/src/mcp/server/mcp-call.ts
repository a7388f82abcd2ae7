/** A call of the runtime that came in over MCP. */
import { randomUUID } from 'node:crypto';
import type { LoggingLevel, ServerContext } from '@modelcontextprotocol/server';
import {
  type ApprovalAnswer,
  type JsonObject,
  type JsonValue,
  ToolError,
  type ToolRequest,
  type ToolResponse,
} from '@tool-runtime/protocol';
import type { AskClient } from '@tool-runtime/sdk';
import type { LoggedEvent } from '../../sessions/kept-messages.ts';
import type { ServedSession } from '../../sessions/served-session.ts';
import { type Answers, type Questions, WaitingCall } from './client-questions.ts';
import type { McpBackend } from './mcp-backend.ts';

/** What to call, and the `_meta` of the request, which may name the trace it belongs to. */
export interface NamedTool {
  readonly name: string;
  readonly args: JsonObject;
  readonly meta: Readonly<Record<string, unknown>> | undefined;
}

/** The runtime's call and the request it currently belongs to: the first one, or a later one that brought answers. */
export class McpCall extends WaitingCall {
  readonly tool: NamedTool;
  readonly served: ServedSession;
  readonly cancel: () => void;
  reporter: ProgressReporter | undefined;
  #request: AbortSignal | undefined;
  /** Answers may come with the call itself, from a client that knows what will be asked; they count once. */
  areAnswersNew = true;

  constructor(tool: NamedTool, served: ServedSession, cancel: () => void) {
    super();
    this.tool = tool;
    this.served = served;
    this.cancel = cancel;
  }

  /** From now on this request hears of progress, and its cancel is the call's. */
  bind(ctx: ServerContext, logLevel: LoggingLevel | undefined): void {
    const { signal } = ctx.mcpReq;
    this.#request = signal;
    signal.addEventListener('abort', this.cancel, { once: true });
    this.cancelIfAborted();
    this.reporter = createProgressReporter(ctx, logLevel);
  }

  cancelIfAborted(): void {
    if (this.#request?.aborted === true) this.cancel();
  }

  /** The request ends, with the call or with a question: from then on its end is not the end of the call. */
  release(): void {
    // The SDK keeps the signal for a while after its request, and with it everything that listens.
    this.#request?.removeEventListener('abort', this.cancel);
    this.#request = undefined;
    this.reporter?.stop();
    this.reporter = undefined;
  }
}

/** `bind` is called before the call begins: it may say something at once. */
export function beginCall(
  tool: NamedTool,
  served: ServedSession,
  backend: McpBackend,
  bind: (call: McpCall) => void,
): McpCall {
  const requestId = `mcp-${randomUUID()}`;
  const call = new McpCall(tool, served, () => served.cancel(requestId));
  bind(call);
  call.follow(run(call, toRequest(tool, requestId, served.id), served, backend));
  call.cancelIfAborted();
  return call;
}

async function run(
  call: McpCall,
  request: ToolRequest,
  served: ServedSession,
  backend: McpBackend,
): Promise<ToolResponse> {
  const askClient: AskClient = (questions) => call.ask(questions, 'tool');
  const leave = served.listen('progress', (event) => onEvent(event, request.request_id, call, backend));
  try {
    const { message } = await served.start(request, { askClient, isFleeting: true });
    if (message.type === 'ToolResponse') return message;
    const { code, message: text, details } = message;
    throw new ToolError(code, text, details === undefined ? {} : { details });
  } finally {
    leave();
    call.release();
  }
}

function toRequest({ name, args, meta }: NamedTool, requestId: string, sessionId: string): ToolRequest {
  const { traceparent, tracestate } = meta ?? {};
  return {
    type: 'ToolRequest',
    tool: name,
    args,
    request_id: requestId,
    session_id: sessionId,
    timestamp: Math.floor(Date.now() / 1000),
    ...(typeof traceparent === 'string' ? { traceparent } : {}),
    ...(typeof tracestate === 'string' ? { tracestate } : {}),
  };
}

function onEvent(event: LoggedEvent, requestId: string, call: McpCall, backend: McpBackend): void {
  if (event.requestId !== requestId) return;
  if (event.event === 'TaskProgress') call.reporter?.report(event.text);
  if (event.event === 'ApprovalRequested') void askApproval(event, call, backend);
}

/** Without the right to approve, the question waits at the desk for an approver. */
async function askApproval(event: LoggedEvent, call: McpCall, backend: McpBackend): Promise<void> {
  const { data } = JSON.parse(event.text) as { data: JsonObject };
  if (!backend.principal.scopes.has('approve')) return;
  const approval_id = String(data['approval_id']);
  const answer = await call.ask(approvalQuestion(data), 'approval').then(approvalAnswer, cannotAsk);
  try {
    backend.approvals.answer({ approval_id, ...answer }, backend.principal);
  } catch {
    // Another approver was faster, or the question timed out: the call knows already.
  }
}

function cannotAsk(): { answer: 'denied'; reason: string } {
  return {
    answer: 'denied',
    reason:
      'this client cannot ask its user; approve over the host (tool-runtime approvals) or list the tool in approvals.auto_approve',
  };
}

const KEY = 'approval';

const WORDS: Readonly<Record<string, ApprovalAnswer['answer']>> = {
  allow: 'approved',
  allow_for_session: 'approved_for_session',
  deny: 'denied',
};

/** An approval as a form. Only a clear yes counts: declining, closing the form or an unknown word is a no. */
function approvalQuestion(data: JsonObject): Questions {
  // Without a scope no later call can be covered: the effects of this one were shown, not those of the next.
  const lasting = text(data['scope']) === '' ? [] : [`Allow for this session: ${text(data['scope'])}`];
  return {
    [KEY]: {
      method: 'elicitation/create',
      params: {
        mode: 'form',
        message: questionText(data),
        requestedSchema: {
          type: 'object',
          properties: {
            decision: {
              type: 'string',
              title: 'Decision',
              enum: Object.keys(WORDS).filter((word) => lasting.length > 0 || word !== 'allow_for_session'),
              enumNames: ['Allow once', ...lasting, 'Deny'],
            },
            reason: { type: 'string', title: 'Reason', description: 'Told to the caller', maxLength: 500 },
          },
          required: ['decision'],
        },
      },
    },
  };
}

/** The effect, where there is one, says more than the summary of the arguments. */
function questionText(data: JsonObject): string {
  const effect = text(data['effect']);
  const about = effect === '' ? ` ${text(data['summary']).slice(0, 2000)}` : '';
  return `Allow ${text(data['tool'])}?${about} (${text(data['reason'])})${effect === '' ? '' : `\n${effect}`}`;
}

function approvalAnswer(answers: Answers): Pick<ApprovalAnswer, 'answer' | 'reason'> {
  const answer = answers[KEY] ?? {};
  const content = answer['action'] === 'accept' ? (answer['content'] as JsonObject | undefined) : undefined;
  const word = WORDS[text(content?.['decision'])];
  if (word === undefined)
    return { answer: 'denied', reason: `the client answered: ${text(answer['action']) || 'nothing'}` };
  const reason = content?.['reason'];
  return { answer: word, ...(typeof reason === 'string' && reason !== '' ? { reason: reason.slice(0, 500) } : {}) };
}

function text(value: JsonValue | undefined): string {
  return typeof value === 'string' ? value : '';
}

interface ProgressReporter {
  /** An EventMessage as it goes over the wire. */
  report(event: string): void;
  stop(): void;
}

/** Well below the minute after which most clients stop waiting. */
const HEARTBEAT_MS = 15_000;
/** What a sign of life adds: progress has to grow, or clients ignore it. */
const STEP = 0.001;
const INCLUDES_INFO: ReadonlySet<LoggingLevel | undefined> = new Set<LoggingLevel>(['debug', 'info']);

/** Undefined when the client asked for neither. */
function createProgressReporter(ctx: ServerContext, logLevel: LoggingLevel | undefined): ProgressReporter | undefined {
  const progressToken = ctx.mcpReq._meta?.progressToken;
  if (progressToken !== undefined) return progressNotes(ctx, progressToken);
  return INCLUDES_INFO.has(logLevel) ? logMessages(ctx) : undefined;
}

function progressNotes(ctx: ServerContext, progressToken: string | number): ProgressReporter {
  let last = -STEP;
  const send = (progress: number, message?: string): void => {
    last = Math.max(last + STEP, progress);
    const params = { progressToken, progress: last, total: 100, ...(message === undefined ? {} : { message }) };
    // A client that is gone hears nothing; its cancel arrives by other means.
    ctx.mcpReq.notify({ method: 'notifications/progress', params }).catch(() => {});
  };
  const beat = setInterval(() => send(last), HEARTBEAT_MS);
  return {
    report(event) {
      const { pct, message } = readProgress(event);
      send(pct, message);
    },
    stop: () => clearInterval(beat),
  };
}

function logMessages(ctx: ServerContext): ProgressReporter {
  return {
    report(event) {
      const params = { level: 'info', logger: 'tool', data: readProgress(event).message };
      ctx.mcpReq.notify({ method: 'notifications/message', params }).catch(() => {});
    },
    stop: () => {},
  };
}

function readProgress(event: string): { readonly pct: number; readonly message: string } {
  return (JSON.parse(event) as { progress: { pct: number; message: string } }).progress;
}
