/** Gives a request its identity, its clock, its signal and its span, then finds its tool. Changes nothing. */
import { toToolError } from '@tool-runtime/protocol';
import type { CallSpan } from '../contracts/telemetry.ts';
import { isListedTool, type ListedTool } from '../contracts/tool.ts';
import type { MaybePromise } from '../contracts/workspace.ts';
import { callInOurWords, unknownTool } from '../package/tool-router.ts';
import { CallTime } from './state/call-time.ts';
import type { CallRequest, OpenCall } from './state/call-types.ts';
import type {
  CompiledTool,
  IdentityParts,
  RecordingParts,
  ResourceParts,
  WatchingParts,
} from './state/session-parts.ts';

export function beginCall(
  request: CallRequest,
  parts: IdentityParts & RecordingParts & WatchingParts & Pick<ResourceParts, 'changes'>,
): OpenCall {
  const callId = parts.newId();
  const time = new CallTime(request);
  let sets: ReturnType<OpenCall['sets']> | undefined;
  return {
    request,
    callId,
    sessionId: parts.sessionId,
    countedAs: countedName(request.tool, parts),
    startedAt: parts.clock.now(),
    startedTick: parts.clock.monotonic(),
    warnings: [],
    masks: { masked: 0 },
    trail: [],
    progress: { requested: false, pct: 0, ended: false, waitedMs: 0, mutationClass: 'other' },
    sets() {
      sets ??= parts.changes.forCall();
      return sets;
    },
    span: openSpan(request, callId, parts),
    time,
    signal: () => time.signal,
    abort: (reason) => time.abort(reason),
    cancelled: () => time.reason !== undefined,
  };
}

/** Whether the call, or the batch it commits, may have been made before. */
export function isKeyed({ idempotencyKey, dedupeKey, batchKey }: CallRequest): boolean {
  return idempotencyKey !== undefined || dedupeKey !== undefined || batchKey !== undefined;
}

/** The tool of this name, with its code. */
export function loadTool(open: OpenCall, parts: IdentityParts): MaybePromise<CompiledTool> {
  const compiled = findTool(open, parts);
  const { tool } = compiled;
  return isListedTool(tool) ? loadListed(open, compiled, tool) : compiled;
}

async function loadListed(open: OpenCall, compiled: CompiledTool, tool: ListedTool): Promise<CompiledTool> {
  compiled.tool = await open.time.wait('load', () => tool.load());
  return compiled;
}

/** The exact name, or a refusal that says why the session may not use the tool. */
function findTool({ request }: OpenCall, { tools, hidden, snapshot }: IdentityParts): CompiledTool {
  const refusal = hidden.get(request.tool);
  if (refusal !== undefined) throw refusal;
  const compiled = tools.get(request.tool);
  if (compiled === undefined) {
    const known = callInOurWords(
      request.tool,
      request.args,
      [...tools.values()].map(({ tool }) => tool),
    );
    throw unknownTool(request.tool, snapshot, known);
  }
  return compiled;
}

/** Names of tools that do not exist come from outside and are unbounded, so metrics and spans count them as one. */
function countedName(name: string, { tools }: IdentityParts): string {
  return tools.has(name) ? name : '(unknown)';
}

/** A telemetry port that throws is reported once and then ignored: watching a call must never change it. */
export function openSpan(
  request: CallRequest,
  callId: string,
  parts: IdentityParts & WatchingParts,
): CallSpan | undefined {
  const { telemetry, sessionId, actor } = parts;
  if (telemetry === undefined) return undefined;
  let span: CallSpan | undefined;
  const guarded = (use: () => void): void => {
    try {
      use();
    } catch (thrown) {
      span = undefined;
      parts.reportUnexpected(toToolError(thrown));
    }
  };
  guarded(() => {
    span = telemetry.startCall({
      tool: countedName(request.tool, parts),
      sessionId,
      requestId: request.requestId,
      callId,
      actor,
      traceparent: request.traceparent,
      tracestate: request.tracestate,
    });
  });
  if (span === undefined) return undefined;
  return {
    context: span.context,
    stage: (name) => guarded(() => span?.stage(name)),
    end: (end) => guarded(() => span?.end(end)),
  };
}
