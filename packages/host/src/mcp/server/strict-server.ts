/**
 * The SDK's server, with three differences.
 *
 * A request that is out of form is the caller's mistake (-32602). The SDK throws a plain error about it, which it then
 * answers as a fault of the server, with all it knows about its schema.
 *
 * A plain call of a tool is recognised by its shape. The SDK would try four schemas to find out that a message is a
 * request, parse the call twice and its result once, which costs more than the call. Everything else goes through the
 * SDK: other methods, calls that carry more than a name and arguments, resumed calls, and results that ask the client.
 *
 * On stdio a plain call comes straight from the codec, and its answer goes straight back. The SDK's stdio entry reads
 * each message and each answer with schemas to tell the two families apart, which is settled by then.
 */
import {
  type CallToolRequest,
  isInputRequiredResult,
  type JSONRPCMessage,
  type JSONRPCRequest,
  type MessageExtraInfo,
  ProtocolError,
  RELATED_TASK_META_KEY,
  type Result,
  Server,
  type ServerContext,
  type Transport,
} from '@modelcontextprotocol/server';
import { isCreatedTask } from './call-tasks.ts';

type Handler = (request: JSONRPCRequest, ctx: ServerContext) => Promise<Result>;
/** A call whose shape is checked. */
type PlainCall = (params: CallToolRequest['params'], ctx: ServerContext) => Promise<Result>;

interface Issue {
  readonly path: readonly unknown[];
  readonly message: string;
}

type PlainRequest = JSONRPCRequest & Pick<CallToolRequest, 'params'>;

const INVALID_PARAMS = -32_602;
const SHOWN_CHARACTERS = 300;

export class StrictServer extends Server {
  #call: PlainCall | undefined;
  /** The SDK has settled which family the connection serves: from then on it passes messages on without saying so. */
  #isSettled = false;

  /** For calls whose shape is checked already; the handler of `tools/call` gets the others. */
  setPlainCallHandler(handler: PlainCall): void {
    this.#call = handler;
  }

  override async connect(transport: Transport): Promise<void> {
    await super.connect(transport);
    const { onmessage } = transport;
    transport.onmessage = (message: JSONRPCMessage, extra?: MessageExtraInfo) => {
      this.#isSettled ||= extra?.classification === undefined;
      if (isPlainCall(message)) this['_onrequest'](message, extra);
      else onmessage?.(message, extra);
    };
  }

  /** Takes a plain call of a connection whose family is settled; false for any other message, which the SDK must see. */
  takePlainCall(message: unknown, answers: Pick<Transport, 'send'>): boolean {
    const channel = this['_transport'];
    if (!this.#isSettled || channel === undefined || !isPlainCall(message)) return false;
    // The dispatcher answers on the transport that it finds when the request comes in.
    this['_transport'] = answers as Transport;
    try {
      this['_onrequest'](message);
    } finally {
      this['_transport'] = channel;
    }
    return true;
  }

  protected override _wrapHandler(method: string, handler: Handler): Handler {
    const inForm: Handler = (request, ctx) => {
      try {
        return handler(request, ctx);
      } catch (thrown) {
        // Handlers fail in their promise; what is thrown at once is about the form of the request.
        const issue = issueIn(thrown);
        throw issue === undefined ? thrown : outOfForm(method, issue);
      }
    };
    if (method !== 'tools/call') return super._wrapHandler(method, inForm);
    const wrap = (answer: Handler) => super._wrapHandler(method, answer);
    return async (request, ctx) => {
      if (this.#call === undefined || !isPlainCall(request) || ctx.mcpReq.requestState() !== undefined)
        return checkedCall(wrap, inForm)(request, ctx);
      const result = await this.#call(request.params, ctx);
      return isInputRequiredResult(result) ? wrap(async () => result)(request, ctx) : result;
    };
  }
}

/** Tasks pass by the check of results: they have no content, and the SDK would give them some. */
function checkedCall(wrap: (answer: Handler) => Handler, handler: Handler): Handler {
  return async (request, ctx) => {
    let task: Result | undefined;
    const result = await wrap(async (...given) => {
      const answer = await handler(...given);
      if (!isCreatedTask(answer)) return answer;
      task = answer;
      return { content: [] };
    })(request, ctx);
    return task ?? result;
  };
}

/** A call with a name and arguments and nothing else that a schema would have to check. */
function isPlainCall(message: unknown): message is PlainRequest {
  if (!isObject(message)) return false;
  const { jsonrpc, id, method, params } = message as Partial<JSONRPCRequest>;
  if (method !== 'tools/call' || jsonrpc !== '2.0' || !isId(id) || !isObject(params)) return false;
  const { name, arguments: args, _meta } = params;
  if (typeof name !== 'string' || (args !== undefined && !isObject(args))) return false;
  return holdsOnly(message, ENVELOPE) && holdsOnly(params, PARAMS) && (_meta === undefined || isPlainMeta(_meta));
}

const ENVELOPE: ReadonlySet<string> = new Set(['jsonrpc', 'id', 'method', 'params']);
const PARAMS: ReadonlySet<string> = new Set(['name', 'arguments', '_meta']);

function isPlainMeta(meta: unknown): boolean {
  if (!isObject(meta) || Object.hasOwn(meta, RELATED_TASK_META_KEY)) return false;
  const { progressToken } = meta;
  return progressToken === undefined || isId(progressToken);
}

function isId(value: unknown): boolean {
  return typeof value === 'string' || Number.isSafeInteger(value);
}

function isObject(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

function holdsOnly(value: object, names: ReadonlySet<string>): boolean {
  for (const name in value) if (!names.has(name)) return false;
  return true;
}

function outOfForm(method: string, { path, message }: Issue): ProtocolError {
  const text = `Invalid ${method} request: ${path.map(String).join('.')}: ${message}`;
  return new ProtocolError(INVALID_PARAMS, text.slice(0, SHOWN_CHARACTERS).toWellFormed());
}

/** The first of the issues that make up the text of an error about a schema; undefined for any other error. */
function issueIn(thrown: unknown): Issue | undefined {
  if (!(thrown instanceof Error) || thrown instanceof ProtocolError) return undefined;
  try {
    const [issue] = JSON.parse(thrown.message) as Partial<Issue>[];
    if (!Array.isArray(issue?.path) || typeof issue.message !== 'string') return undefined;
    return { path: issue.path, message: issue.message };
  } catch {
    return undefined;
  }
}
