/**
 * One client's authenticated context: a frozen snapshot of what it may do, its budget, its identity.
 *
 * Entrances: `call` and `batch` for programs, `handle` for transports that speak envelopes. All lead to the pipeline.
 */
import {
  type BatchRequest,
  type BatchResponse,
  type ErrorMessage,
  type PlanVerdict,
  type PolicyExplanation,
  type ToolError,
  type ToolRequest,
  type ToolResponse,
  toToolError,
} from '@tool-runtime/protocol';
import { readArgs } from '../call/normalize-args.ts';
import type { CallRequest, CallTurn } from '../call/state/call-types.ts';
import type { SessionParts } from '../call/state/session-parts.ts';
import type { AskClient } from '../contracts/client-port.ts';
import { cancellation, policyDenial } from '../contracts/failures.ts';
import { checkId } from '../contracts/identifiers.ts';
import type { CapabilityPolicy } from '../contracts/registry.ts';
import type { EventSelection, RuntimeEvent } from '../contracts/telemetry.ts';
import type { PresentedAnswer } from '../contracts/tool-text.ts';
import type { ToolAnswer, ToolArgs } from '../contracts/tool-types.ts';
import type { Totals } from '../events/metrics.ts';
import { parseStrategy, type ToolExecutionStrategy } from '../package/execution-strategy.ts';
import type { ToolRegistrySnapshot } from '../package/registry-snapshot.ts';
import { presentAnswer, type ShownResponse } from '../present/present-answer.ts';
import type { ChildOptions, ChildSession, Usage } from './child-session.ts';
import type { ProposedCall } from './compile-session.ts';
import { discoverTools, type HiddenTool, hiddenTools, type ToolListing } from './discover-tools.ts';
import type { EndChildren, Family } from './family.ts';
import { type PlanSteps, proposals } from './propose-plan.ts';
import {
  type Abort,
  admitRequest,
  bothTurns,
  inTurn,
  type LoopShare,
  RequestIds,
  RunningWork,
  runJoined,
} from './requests.ts';
import { atomicBatch, runAtomic, stepCaller } from './run-atomic.ts';
import {
  type BatchHandling,
  type BatchRequestCall,
  errorMessage,
  footprintOf,
  handleBatch,
  runBatch,
} from './run-batch.ts';
import { asMembers, runTaped } from './run-taped.ts';
import type { BudgetState } from './session-budget.ts';
import { type WorkElsewhere, worksElsewhere } from './work-elsewhere.ts';

export interface CallOptions {
  readonly requestId?: string;
  readonly idempotencyKey?: string;
  readonly dedupeKey?: string;
  /** The transaction it belongs to; the newest open one of the session by default. Keys hold inside of it only. */
  readonly txId?: string;
  /** Lowers the tool's time limit. */
  readonly timeoutMs?: number;
  readonly signal?: AbortSignal;
  /** Lets the tool put questions to the caller while it runs. */
  readonly askClient?: AskClient;
  /** W3C trace context: the span of the call becomes a child of the caller's. */
  readonly traceparent?: string;
  readonly tracestate?: string;
  /** A place outside the session that the call has to wait for, such as a slot of a host; waiting is part of its time. */
  readonly turn?: CallTurn;
}

export type OpenChildHow = Pick<CallOptions, 'requestId'>;

export interface BatchItem extends CallOptions {
  readonly tool: string;
  readonly args: unknown;
}

export interface BatchOptions {
  readonly strategy?: ToolExecutionStrategy;
  /** All calls in one transaction, which is committed when all of them succeed and given up otherwise. */
  readonly atomic?: boolean;
  /** Called as answers are released: when ready, or in request order, as the strategy says. */
  readonly onResponse?: (response: ToolResponse, index: number) => void;
}

export interface HandleOptions extends Pick<CallOptions, 'signal' | 'askClient' | 'turn'> {
  /** Gets a function that cancels the call, before anything else happens. Costs less than a signal for every call. */
  readonly onOpen?: (cancel: (reason?: ToolError) => void) => void;
}

export interface PresentedCall {
  readonly tool: string;
  readonly args: unknown;
  /** UTF-8 bytes of the text at most; not less than 1,024. */
  readonly maxBytes?: number | undefined;
}

export interface EventOptions {
  /** `all` by default; `progress` leaves out the changes of status, which are then not even built. */
  readonly events?: EventSelection;
}

export interface Session {
  readonly id: string;
  readonly snapshot: ToolRegistrySnapshot;
  /** The most any of its calls may do. */
  readonly ceiling: CapabilityPolicy;
  /**
   * Rejects when the session is closed or expired, and for a tool name, id or key that is malformed: too long, or with
   * control characters. Every other failure is a response with `ok: false`.
   */
  call<Name extends string>(tool: Name, args: ToolArgs<Name>, options?: CallOptions): Promise<ToolAnswer<Name>>;
  batch(items: readonly BatchItem[], options?: BatchOptions): Promise<ToolResponse[]>;
  /** Never rejects: a call that is not for this session is answered with an ErrorMessage. */
  handle(request: ToolRequest, options?: HandleOptions): Promise<ToolResponse | ErrorMessage>;
  /** As `handle`: a call that is refused has an ErrorMessage among the responses, a batch that is refused is one. */
  handleBatch(request: BatchRequest, options?: BatchHandling): Promise<BatchResponse | ErrorMessage>;
  /**
   * What the gates and the coordinator say about calls that are only proposed. Nothing runs, and nothing is promised: hooks,
   * budgets and locks have their say when the calls come. One record in the journal. Rejects where `call` does, for
   * an invalid plan, and when it cannot be recorded.
   */
  propose(plan: PlanSteps, options?: ProposeOptions): Promise<PlanVerdict>;
  /**
   * What every gate says to a call, with the line of the registry that decides, and the smallest change of the registry
   * that would turn the answer. Nothing runs and nothing is recorded. Hooks, budgets and the coordinator are not asked.
   */
  explain(tool: string, args: unknown): Promise<PolicyExplanation>;
  /** What this session may use: all tools, or the one of this name. */
  tools(name?: string): readonly ToolListing[];
  /**
   * A response of this session as text for a model or a person, within `limits.max_answer_tokens` or a lower limit of the
   * caller's own. `call` is what was asked for.
   */
  present(call: PresentedCall, response: ShownResponse): PresentedAnswer;
  /** Tools this session may not use, and why. */
  hidden(): readonly HiddenTool[];
  events(options?: EventOptions): AsyncIterableIterator<RuntimeEvent>;
  /** The same as they happen, for transports: every event of a call arrives before its answer. */
  listen(callback: (event: RuntimeEvent) => void, options?: EventOptions): () => void;
  metrics(): Totals;
  /** Whether a request of this id arrived: what did not, did not run. */
  hasSeen(requestId: string): boolean;
  /** The id of a call that was cancelled before it began may be used again. */
  forget(requestId: string): void;
  /** Keeps a session alive that was opened with a heartbeat limit. */
  heartbeat(): void;
  /**
   * A session of its own that can do less than this one, bound to a package cut from this one's. Rejects with nothing
   * recorded when it asks for anything this session does not have. A request id must be new, like that of a call.
   */
  openChild(options: ChildOptions, how?: OpenChildHow): Promise<ChildSession>;
  /** Those that are open. */
  children(): readonly ChildSession[];
  /** What it and its children used so far. */
  usage(): Usage;
  /** What it and its children used up of each limit that was set for it. */
  budget(): BudgetState;
  /**
   * Ends the session: no new calls, then waits for the running ones, cancelled first if that is wanted. Rejects with
   * E_POLICY while it has open children, unless it cancels or ends them too.
   */
  close(options?: CloseOptions): Promise<void>;
  /** Resolves when the session has ended, for whatever reason. Never rejects. */
  readonly ended: Promise<'closed' | 'expired'>;
  /** Of a child that works on another host: what that host takes and reports. */
  readonly elsewhere?: WorkElsewhere;
}

export interface ProposeOptions {
  readonly signal?: AbortSignal;
}

export interface CloseOptions {
  /** Also cancels children, except those that another session may take over. */
  readonly cancel?: boolean;
  /** `end` ends children in the same way as the session; `refuse` by default. */
  readonly children?: 'refuse' | 'end';
  /** How the journal names the end. */
  readonly reason?: 'closed' | 'expired';
}

export interface SessionHooks {
  readonly heartbeatTimeoutMs: number | undefined;
  readonly family: Family;
  readonly loop: LoopShare;
  explain(call: ProposedCall): Promise<PolicyExplanation>;
  usage(): Usage;
  budget(): BudgetState;
  readonly elsewhere: WorkElsewhere | undefined;
  readonly onClose: (reason: 'closed' | 'expired') => Promise<void>;
}

/** A call of a batch knows how the batch runs. */
type InnerOptions = CallOptions &
  Pick<HandleOptions, 'onOpen'> &
  Pick<CallRequest, 'strategy' | 'member' | 'batchKey' | 'recordOf'>;

export function createSession(parts: SessionParts, hooks: SessionHooks): Session {
  const { family, elsewhere } = hooks;
  const running = new RunningWork(parts.registry.limits.max_in_flight, hooks.loop);
  const requestIds = new RequestIds();
  const over = Promise.withResolvers<'closed' | 'expired'>();
  const life = {
    ended: undefined as 'closed' | 'expired' | undefined,
    end: undefined as Promise<void> | undefined,
    lastBeat: parts.clock.monotonic(),
  };

  function refuseWhenEnded(): void {
    const limit = hooks.heartbeatTimeoutMs;
    if (life.ended === undefined && limit !== undefined && parts.clock.monotonic() - life.lastBeat > limit) {
      close({ cancel: true, reason: 'expired' }).catch(reportTo(parts));
    }
    if (life.ended !== undefined) throw sessionEnded(life.ended);
  }

  async function close({ cancel = false, reason = 'closed', children = 'refuse' }: CloseOptions = {}): Promise<void> {
    if (life.ended === undefined && !cancel && children === 'refuse') family.requireNone();
    life.ended ??= reason;
    if (cancel) running.cancel(cancelledWith(life.ended));
    if (cancel) elsewhere?.cancel();
    life.end ??= finish(life.ended, { cancel, byPolicy: children === 'refuse' });
    await life.end;
  }

  async function finish(reason: 'closed' | 'expired', how: EndChildren): Promise<void> {
    try {
      if (family.size > 0) await family.end(how);
      if (elsewhere !== undefined) await elsewhere.end();
      await running.ended();
      // One that was still opening is running work of its parent, and only now there to be ended.
      if (family.size > 0) await family.end(how);
      await parts.transactions.close();
      await hooks.onClose(reason);
    } finally {
      over.resolve(reason);
    }
  }

  async function openChild(options: ChildOptions, { requestId }: OpenChildHow = {}): Promise<ChildSession> {
    refuseWhenEnded();
    if (elsewhere !== undefined) throw worksElsewhere(elsewhere.workspace);
    if (requestId !== undefined) requestIds.claim(checkId(requestId, 'request_id'), { isKeyed: false });
    return running.run(inTurn(() => family.open(options)));
  }

  async function call<Name extends string>(
    tool: Name,
    args: unknown,
    options: CallOptions = {},
  ): Promise<ToolAnswer<Name>> {
    return (await callUntyped(tool, args, options)) as ToolAnswer<Name>;
  }

  /** Throws at once what is no call of this session. */
  function callUntyped(tool: string, args: unknown, options: InnerOptions): Promise<ToolResponse> {
    refuseWhenEnded();
    const request = admitRequest(options, { tool, args }, { requestIds, newId: parts.newId });
    const run = parts.cassette === undefined ? runJoined : runTaped;
    return running.run((onOpen, turn) => run(inTurnOf(request, turn), parts, bothOpen(onOpen, options.onOpen)));
  }

  function claimBatch({ session_id, request_id, atomic, calls }: BatchRequest): void {
    if (session_id !== parts.sessionId) throw wrongSession();
    refuseWhenEnded();
    const isKeyed = atomic === true && calls.some(({ idempotency_key }) => idempotency_key !== undefined);
    requestIds.claim(checkId(request_id, 'request_id'), { isKeyed });
  }

  return {
    id: parts.sessionId,
    snapshot: parts.snapshot,
    ceiling: parts.registry.ceiling,
    call,
    ...batches(async (tool, args, options) => callUntyped(tool, args, options), claimBatch, parts),
    async handle(request, options = {}) {
      try {
        if (request.session_id !== parts.sessionId) throw wrongSession();
        return await callUntyped(request.tool, request.args, { ...envelopeOptions(request), ...options });
      } catch (thrown) {
        return errorMessage(toToolError(thrown), request.request_id);
      }
    },
    ...proposals(parts, { running, explain: hooks.explain, refuseWhenEnded }),
    tools: (name) => discoverTools(parts, name),
    present: (asked, response) => presentCall(asked, response, parts),
    hidden: () => hiddenTools(parts),
    events: (options) => parts.events.subscribe({ ...options, sessionId: parts.sessionId }),
    listen: (callback, options) => parts.events.listen(parts.sessionId, callback, options),
    metrics: () => parts.metrics.totals(parts.sessionId),
    hasSeen: (requestId) => requestIds.has(requestId),
    forget: (requestId) => requestIds.forget(requestId),
    heartbeat() {
      refuseWhenEnded();
      life.lastBeat = parts.clock.monotonic();
    },
    openChild,
    children: () => family.list(),
    usage: hooks.usage,
    budget: hooks.budget,
    close,
    ended: over.promise,
    ...(elsewhere === undefined ? {} : { elsewhere }),
  };
}

/** For what no caller waits for: a failure there, such as a full journal, must not end the process. */
function reportTo({ reportUnexpected }: Pick<SessionParts, 'reportUnexpected'>): (thrown: unknown) => void {
  return (thrown) => reportUnexpected(toToolError(thrown));
}

function batches(
  call: CallTool,
  claim: (request: BatchRequest) => void,
  parts: SessionParts,
): Pick<Session, 'batch' | 'handleBatch'> {
  return {
    async batch(items, options = {}) {
      const strategy = parseStrategy(options.strategy ?? { type: 'sequential' });
      return asMembers(strategy.type === 'sequential' ? 0 : items.length, parts, async (memberAt) => {
        if (options.atomic === true) return atomicBatch(items, { strategy, call, parts, options, memberAt });
        const calls = items.map(({ tool, args, ...rest }, index) => ({
          footprint: footprintOf(tool, args, parts),
          run: () => call(tool, args, { ...rest, strategy, ...memberAt(index) }),
        }));
        return runBatch(calls, strategy, options.onResponse ?? (() => {}));
      });
    },
    handleBatch: (request, options = {}) =>
      asMembers(request.strategy === undefined ? 0 : request.calls.length, parts, (memberAt) =>
        handleBatch(request, {
          ...options,
          claim: () => claim(request),
          call: (item, how) =>
            call(item.tool, item.args, { ...envelopeOptions(item), ...how, ...memberAt(request.calls.indexOf(item)) }),
          atomically: (items, strategy) => runAtomic(items, { strategy, parts, call: stepCaller(call, parts) }),
          footprint: ({ tool, args }) => footprintOf(tool, args, parts),
        }),
      ),
  };
}

export type CallTool = (tool: string, args: unknown, options: InnerOptions) => Promise<ToolResponse>;

function presentCall(asked: PresentedCall, response: ShownResponse, parts: SessionParts): PresentedAnswer {
  const compiled = parts.tools.get(asked.tool);
  const args = compiled !== undefined && response.ok ? readArgs(compiled, asked.args, parts.workspace.rootPath) : {};
  const { max_answer_tokens: maxTokens } = parts.registry.limits;
  return presentAnswer(response, { tool: compiled?.tool, args, maxTokens, maxBytes: asked.maxBytes });
}

function inTurnOf(request: CallRequest, turn: CallTurn): CallRequest {
  return { ...request, turn: bothTurns(request.turn, turn) };
}

function bothOpen(own: (abort: Abort) => void, given: HandleOptions['onOpen']): (abort: Abort) => void {
  if (given === undefined) return own;
  return (abort) => {
    own(abort);
    given((reason) => abort(reason ?? cancellation()));
  };
}

function envelopeOptions(request: BatchRequestCall): CallOptions {
  return {
    requestId: request.request_id,
    ...(request.idempotency_key === undefined ? {} : { idempotencyKey: request.idempotency_key }),
    ...(request.dedupe_key === undefined ? {} : { dedupeKey: request.dedupe_key }),
    ...(request.tx_id === undefined ? {} : { txId: request.tx_id }),
    ...(request.timeout_ms === undefined ? {} : { timeoutMs: request.timeout_ms }),
    ...(request.traceparent === undefined ? {} : { traceparent: request.traceparent }),
    ...(request.tracestate === undefined ? {} : { tracestate: request.tracestate }),
  };
}

function sessionEnded(how: 'closed' | 'expired'): ToolError {
  return policyDenial(`Session is ${how}`, {
    details: { gate: 'session', reason: `session_${how}`, next: 'open a new session' },
  });
}

function cancelledWith(how: 'closed' | 'expired'): ToolError {
  return cancellation(`Call was cancelled because the session was ${how}`, {
    details: { gate: 'session', next: 'open a new session' },
  });
}

function wrongSession(): ToolError {
  return policyDenial('Request names a session that is not this one', {
    path: 'session_id',
    details: { gate: 'session', reason: 'unknown_session', next: 'use the session_id of the SessionAck' },
  });
}
