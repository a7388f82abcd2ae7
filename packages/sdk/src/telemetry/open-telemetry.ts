/**
 * Calls as OpenTelemetry spans and metrics, through the API package alone: which SDK and exporter stand behind it is the
 * embedding program's choice. Without one everything here does nothing.
 *
 * One span per call, its stages as events of the span. Arguments and results never appear.
 */
import {
  type Attributes,
  context,
  createTraceState,
  isSpanContextValid,
  type MeterProvider,
  metrics,
  type Span,
  type SpanContext,
  SpanStatusCode,
  type TracerProvider,
  trace,
} from '@opentelemetry/api';
import type { CallEnd, CallSpan, CallStart, CallTelemetry, TraceContext } from '../contracts/telemetry.ts';
import { DURATION_BOUNDS_MS } from '../events/metrics.ts';
import { ATTRIBUTES, OTEL_METRICS, SCOPE, SPAN } from './names.ts';

export interface OpenTelemetryOptions {
  /** Default: the global one. */
  readonly tracerProvider?: TracerProvider;
  /** Default: the global one, which must be registered before: unlike tracers, meters do not find a later one. */
  readonly meterProvider?: MeterProvider;
}

export function createOpenTelemetry(options: OpenTelemetryOptions = {}): CallTelemetry {
  const tracer = (options.tracerProvider ?? trace).getTracer(SCOPE);
  const count = createInstruments(options.meterProvider ?? metrics);
  return {
    startCall(call) {
      const span = tracer.startSpan(`${SPAN} ${call.tool}`, { attributes: attributesOf(call) }, parentOf(call));
      return callSpan(span, (end) => count(call.tool, end));
    },
  };
}

/** The caller's span if it sent one, else the one that is active in this process. */
function parentOf({ traceparent, tracestate }: CallStart) {
  const active = context.active();
  const remote = traceparent === undefined ? undefined : readTraceParent(traceparent, tracestate);
  return remote === undefined ? active : trace.setSpanContext(active, remote);
}

function attributesOf(call: CallStart): Attributes {
  return {
    [ATTRIBUTES.operation]: SPAN,
    [ATTRIBUTES.tool]: call.tool,
    [ATTRIBUTES.callId]: call.callId,
    [ATTRIBUTES.sessionId]: call.sessionId,
    [ATTRIBUTES.requestId]: call.requestId,
    [ATTRIBUTES.actor]: call.actor,
  };
}

/** Undefined for a span that is not recorded: what the caller sent is passed on then. */
function contextOf(span: Span): TraceContext | undefined {
  const context = span.spanContext();
  if (!isSpanContextValid(context)) return undefined;
  const { traceId, spanId, traceFlags, traceState } = context;
  const traceparent = `00-${traceId}-${spanId}-${(traceFlags & 0xff).toString(16).padStart(2, '0')}`;
  const tracestate = traceState?.serialize();
  return { traceparent, ...(tracestate ? { tracestate } : {}) };
}

function callSpan(span: Span, count: (end: CallEnd) => void): CallSpan {
  return {
    context: contextOf(span),
    stage(name) {
      span.addEvent(name);
    },
    end(end) {
      span.setAttributes({
        [ATTRIBUTES.status]: end.status,
        [ATTRIBUTES.bytes]: end.bytes,
        [ATTRIBUTES.filesTouched]: end.filesTouched,
        [ATTRIBUTES.mutationClass]: end.mutationClass,
      });
      if (end.errorCode !== undefined) {
        span.setAttribute(ATTRIBUTES.errorType, end.errorCode);
        span.setStatus({ code: SpanStatusCode.ERROR, message: end.errorCode });
      }
      span.end();
      count(end);
    },
  };
}

function createInstruments(provider: Pick<MeterProvider, 'getMeter'>): (tool: string, end: CallEnd) => void {
  const meter = provider.getMeter(SCOPE);
  const counter = ({ name, unit, help }: { readonly name: string; readonly unit: string; readonly help: string }) =>
    meter.createCounter(name, { unit, description: help });
  const calls = counter(OTEL_METRICS.calls);
  const bytes = counter(OTEL_METRICS.bytes);
  const files = counter(OTEL_METRICS.filesTouched);
  const { name, unit, help } = OTEL_METRICS.callDuration;
  const explicitBucketBoundaries = DURATION_BOUNDS_MS.map((bound) => bound / 1000);
  const duration = meter.createHistogram(name, { unit, description: help, advice: { explicitBucketBoundaries } });
  return (tool, end) => {
    const byTool = { [ATTRIBUTES.tool]: tool };
    const attributes = {
      ...byTool,
      [ATTRIBUTES.status]: end.status,
      [ATTRIBUTES.mutationClass]: end.mutationClass,
      ...(end.errorCode === undefined ? {} : { [ATTRIBUTES.errorType]: end.errorCode }),
    };
    calls.add(1, attributes);
    duration.record(end.durationMs / 1000, attributes);
    if (end.bytes > 0) bytes.add(end.bytes, byTool);
    if (end.filesTouched > 0) files.add(end.filesTouched, byTool);
  };
}

const TRACEPARENT = /^(?!ff)([0-9a-f]{2})-([0-9a-f]{32})-([0-9a-f]{16})-([0-9a-f]{2})(-.*)?$/;

/** Reads the W3C trace context of a caller. What is malformed is ignored, as the recommendation asks. */
export function readTraceParent(traceparent: string, tracestate: string | undefined): SpanContext | undefined {
  const [, version, traceId = '', spanId = '', flags = '', rest] = TRACEPARENT.exec(traceparent) ?? [];
  // Later versions may append fields; this one has none.
  if (version === undefined || (version === '00' && rest !== undefined)) return undefined;
  const context: SpanContext = {
    traceId,
    spanId,
    traceFlags: Number.parseInt(flags, 16),
    isRemote: true,
    ...(tracestate === undefined ? {} : { traceState: createTraceState(tracestate) }),
  };
  return isSpanContextValid(context) ? context : undefined;
}
