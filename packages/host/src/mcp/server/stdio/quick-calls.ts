/**
 * Calls that are answered without the SDK. Those that turn out to need it (they ask the client something, answer with content of
 * their own, or could not run at all) are handed over as they are: the SDK gets the message and, through `begun`, the running call.
 */
import type { JsonObject, ToolResponse } from '@tool-runtime/protocol';
import { CALL_TOOL_NAME } from '../../profiles/call-tool-definition.ts';
import { CHILD_TOOL_NAMES } from '../../profiles/child-tool-names.ts';
import { SEARCH_TOOL_NAME } from '../../profiles/search-tool.ts';
import type { McpBackend } from '../mcp-backend.ts';
import { beginCall, type McpCall, type NamedTool } from '../mcp-call.ts';
import type { Caller } from './family.ts';
import { hasOnly, isPlainObject, type PlainMessage, type PlainObject, type RequestId } from './plain-message.ts';
import { ResultFrames } from './result-frame.ts';

/** Answered by the server itself, or the name of another tool's call. */
const OURS: ReadonlySet<string> = new Set([CALL_TOOL_NAME, SEARCH_TOOL_NAME, ...CHILD_TOOL_NAMES]);
const PARAMS: ReadonlySet<string> = new Set(['name', 'arguments', '_meta']);

export interface QuickCallsOptions {
  readonly backend: McpBackend;
  write(frame: string): void;
  handOver(message: PlainMessage): void;
}

interface Running {
  readonly id: RequestId;
  readonly message: PlainMessage;
  readonly frames: ResultFrames;
  call: McpCall | undefined;
  isCancelled: boolean;
}

export class QuickCalls {
  readonly #options: QuickCallsOptions;
  readonly #running = new Map<RequestId, Running>();
  readonly #handedOver = new Map<RequestId, McpCall>();
  readonly #frames: Readonly<Record<'2025' | '2026', ResultFrames>>;

  constructor(options: QuickCallsOptions) {
    const { serverVersion } = options.backend;
    this.#options = options;
    this.#frames = {
      '2025': new ResultFrames({ isModern: false, serverVersion }),
      '2026': new ResultFrames({ isModern: true, serverVersion }),
    };
  }

  framesOf({ isModern }: Caller): ResultFrames {
    return this.#frames[isModern ? '2026' : '2025'];
  }

  /** False: nothing was done, this call is one for the SDK. */
  take(message: PlainMessage, caller: Caller): boolean {
    const { id } = message;
    const tool = readTool(message.params);
    if (id === undefined || tool === undefined || this.#isTaken(id)) return false;
    const { backend } = this.#options;
    const running: Running = { id, message, frames: this.framesOf(caller), call: undefined, isCancelled: false };
    this.#running.set(id, running);
    const served = backend.openedSession();
    if (served === undefined) void this.#openFirst(running, tool, caller);
    else void this.#follow(running, beginCall(tool, served, backend));
    return true;
  }

  /** False: no call here has this id. */
  cancel(id: RequestId): boolean {
    const running = this.#running.get(id);
    if (running === undefined) return false;
    this.#running.delete(id);
    running.isCancelled = true;
    running.call?.cancel();
    return true;
  }

  /** The call that was handed over for a request. */
  begun(id: RequestId): McpCall | undefined {
    const call = this.#handedOver.get(id);
    this.#handedOver.delete(id);
    return call;
  }

  cancelAll(): void {
    for (const id of [...this.#running.keys()]) this.cancel(id);
  }

  /** A second request of the same id is the SDK's, and so is a cancel from then on: it would mean the second. */
  #isTaken(id: RequestId): boolean {
    return this.#running.delete(id) || this.#handedOver.has(id);
  }

  async #openFirst(running: Running, tool: NamedTool, { client }: Caller): Promise<void> {
    const { backend } = this.#options;
    try {
      const served = await backend.session(client);
      if (!running.isCancelled) await this.#follow(running, beginCall(tool, served, backend));
    } catch {
      // The SDK's handler will meet the same refusal and knows how to say it.
      this.#leave(running);
    }
  }

  async #follow(running: Running, call: McpCall): Promise<void> {
    running.call = call;
    try {
      const step = await call.next();
      if (step.type === 'asks' || this.#isPresented(call, step.response)) this.#leave(running);
      else if (!running.isCancelled) {
        this.#end(running);
        this.#options.write(running.frames.ofResponse(running.id, step.response));
      }
    } catch {
      // Why it could not run is still with the call.
      this.#leave(running);
    }
  }

  /** Content of its own goes through the SDK, which checks it. */
  #isPresented({ tool }: McpCall, { ok, data }: ToolResponse): boolean {
    const present = ok ? this.#options.backend.present(tool) : undefined;
    return present !== undefined && Object.keys(present(data)).length > 0;
  }

  #leave(running: Running): void {
    if (running.isCancelled) return;
    this.#end(running);
    if (running.call !== undefined) this.#handedOver.set(running.id, running.call);
    this.#options.handOver(running.message);
  }

  #end(running: Running): void {
    if (this.#running.get(running.id) === running) this.#running.delete(running.id);
  }
}

/** Undefined when it is more than a plain call of one tool of the runtime. */
function readTool(params: PlainObject | undefined): NamedTool | undefined {
  if (params === undefined || !hasOnly(params, PARAMS)) return undefined;
  const { name, arguments: args = {}, _meta: meta } = params;
  if (typeof name !== 'string' || OURS.has(name)) return undefined;
  if (!isPlainObject(args) || (isPlainObject(meta) && 'progressToken' in meta)) return undefined;
  return { name, args: args as JsonObject, meta: isPlainObject(meta) ? meta : undefined };
}
