/**
 * One client's authenticated context: a frozen snapshot of what it may do, its budget, its identity.
 *
 * Entrances: `call` and `batch` for programs, `handle` for transports that speak envelopes. All lead to the pipeline.
 */
import { type ErrorMessage, ToolError, type ToolRequest, type ToolResponse, toToolError } from '@tool-runtime/protocol';
import type { CallRequest } from '../call/call-types.ts';
import { runCall } from '../call/pipeline.ts';
import type { SessionParts } from '../call/session-parts.ts';
import type { RuntimeEvent } from '../contracts/events.ts';
import { checkId } from '../contracts/identifiers.ts';
import type { ToolTotals } from '../events/metrics.ts';
import { parseStrategy, type ToolExecutionStrategy } from '../package/execution-strategy.ts';
import type { ToolRegistrySnapshot } from '../package/registry-snapshot.ts';
import { footprintOf } from './call-footprint.ts';
import { discoverTools, type HiddenTool, hiddenTools, type ToolListing } from './discover-tools.ts';
import { RequestIds } from './request-ids.ts';
import { runBatch, Slots } from './run-batch.ts';

export interface CallOptions {
  readonly requestId?: string;
  readonly idempotencyKey?: string;
  readonly dedupeKey?: string;
  /** Lowers the tool's time limit. */
  readonly timeoutMs?: number;
  readonly signal?: AbortSignal;
}

export interface BatchItem extends CallOptions {
  readonly tool: string;
  readonly args: unknown;
}

export interface BatchOptions {
  readonly strategy?: ToolExecutionStrategy;
  /** Called as answers are released: when ready, or in request order, as the strategy says. */
  readonly onResponse?: (response: ToolResponse, index: number) => void;
}

export interface Session {
  readonly id: string;
  readonly snapshot: ToolRegistrySnapshot;
  /** Rejects only when the session is closed or expired; every other failure is a response with `ok: false`. */
  call(tool: string, args: unknown, options?: CallOptions): Promise<ToolResponse>;
  batch(items: readonly BatchItem[], options?: BatchOptions): Promise<ToolResponse[]>;
  /** Never rejects: what is not a call of this session comes back as an ErrorMessage. */
  handle(request: ToolRequest, options?: { readonly signal?: AbortSignal }): Promise<ToolResponse | ErrorMessage>;
  /** What this session may use: all tools, or the one of this name. */
  tools(name?: string): readonly ToolListing[];
  /** Tools this session may not use, and why. */
  hidden(): readonly HiddenTool[];
  events(): AsyncIterableIterator<RuntimeEvent>;
  /** The same as they happen, for transports: every event of a call arrives before its answer. */
  listen(callback: (event: RuntimeEvent) => void): () => void;
  metrics(): Readonly<Record<string, Readonly<ToolTotals>>>;
  /** Keeps a session alive that was opened with a heartbeat limit. */
  heartbeat(): void;
  /** Waits for running calls, then ends the session. */
  close(): Promise<void>;
}

export interface SessionHooks {
  readonly heartbeatTimeoutMs: number | undefined;
  readonly onClose: (reason: 'closed' | 'expired') => Promise<void>;
}

export function createSession(parts: SessionParts, hooks: SessionHooks): Session {
  const running = new Set<Promise<unknown>>();
  const slots = new Slots(parts.registry.limits.max_in_flight);
  const requestIds = new RequestIds();
  const life = { ended: undefined as 'closed' | 'expired' | undefined, lastBeat: parts.clock.monotonic() };

  function refuseWhenEnded(): void {
    const limit = hooks.heartbeatTimeoutMs;
    if (life.ended === undefined && limit !== undefined && parts.clock.monotonic() - life.lastBeat > limit) {
      life.ended = 'expired';
      void hooks.onClose('expired');
    }
    if (life.ended !== undefined) throw sessionEnded(life.ended);
  }

  async function runInTurn(request: CallRequest): Promise<ToolResponse> {
    const wait = slots.take();
    if (wait !== undefined) await wait;
    try {
      return await runCall(request, parts);
    } finally {
      slots.give();
    }
  }

  /** Waiting calls count as running: closing the session waits for them too. */
  async function admitted(request: CallRequest): Promise<ToolResponse> {
    const response = runInTurn(request);
    running.add(response);
    try {
      return await response;
    } finally {
      running.delete(response);
    }
  }

  async function call(tool: string, args: unknown, options: CallOptions = {}): Promise<ToolResponse> {
    refuseWhenEnded();
    return admitted(toRequest(tool, args, options));
  }

  function toRequest(tool: string, args: unknown, options: CallOptions): CallRequest {
    const { requestId, ...rest } = options;
    if (rest.idempotencyKey !== undefined && rest.dedupeKey !== undefined) throw twoKeys();
    const keyed = rest.idempotencyKey ?? rest.dedupeKey;
    if (keyed !== undefined) checkId(keyed, 'idempotency_key');
    if (requestId !== undefined) requestIds.claim(checkId(requestId, 'request_id'), { isKeyed: keyed !== undefined });
    return { ...rest, tool, args, requestId: requestId ?? parts.newId() };
  }

  return {
    id: parts.sessionId,
    snapshot: parts.router.snapshot,
    call,
    async batch(items, options = {}) {
      const strategy = parseStrategy(options.strategy ?? { type: 'sequential' });
      const calls = items.map(({ tool, args, ...rest }) => ({
        footprint: footprintOf(tool, args, parts),
        run: () => call(tool, args, rest),
      }));
      return runBatch(calls, strategy, options.onResponse ?? (() => {}));
    },
    async handle(request, options = {}) {
      try {
        if (request.session_id !== parts.sessionId) throw wrongSession();
        return await call(request.tool, request.args, { ...envelopeOptions(request), ...options });
      } catch (thrown) {
        return errorMessage(toToolError(thrown), request.request_id);
      }
    },
    tools: (name) => discoverTools(parts, name),
    hidden: () => hiddenTools(parts),
    events: () => parts.events.subscribe({ sessionId: parts.sessionId }),
    listen: (callback) => parts.events.listen(parts.sessionId, callback),
    metrics: () => parts.metrics.totals(parts.sessionId),
    heartbeat() {
      refuseWhenEnded();
      life.lastBeat = parts.clock.monotonic();
    },
    async close() {
      if (life.ended !== undefined) return;
      life.ended = 'closed';
      await Promise.allSettled(running);
      await hooks.onClose('closed');
    },
  };
}

function envelopeOptions(request: ToolRequest): CallOptions {
  return {
    requestId: request.request_id,
    ...(request.idempotency_key === undefined ? {} : { idempotencyKey: request.idempotency_key }),
    ...(request.dedupe_key === undefined ? {} : { dedupeKey: request.dedupe_key }),
    ...(request.timeout_ms === undefined ? {} : { timeoutMs: request.timeout_ms }),
  };
}

export function errorMessage(error: ToolError, requestId: string | null): ErrorMessage {
  const { code, message, details } = error.toEntry();
  return { type: 'ErrorMessage', code, message, request_id: requestId, ...(details === undefined ? {} : { details }) };
}

function sessionEnded(how: 'closed' | 'expired'): ToolError {
  return new ToolError('E_POLICY', `Session is ${how}`, {
    details: { gate: 'session', reason: `session_${how}`, next: 'open a new session' },
  });
}

function wrongSession(): ToolError {
  return new ToolError('E_POLICY', 'Request names a session that is not this one', {
    path: 'session_id',
    details: { gate: 'session', reason: 'unknown_session', next: 'use the session_id of the SessionAck' },
  });
}

function twoKeys(): ToolError {
  return new ToolError('E_VALIDATION_FAIL', 'Give idempotency_key or dedupe_key, not both', {
    path: 'dedupe_key',
    details: { gate: 'session' },
  });
}
