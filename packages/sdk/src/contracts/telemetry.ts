/**
 * Tracing as a port: the runtime says what happens to a call, an adapter makes spans of it.
 *
 * Nothing here carries arguments or results. A span that throws is dropped; the call goes on.
 */
import type { EventMessage } from '@tool-runtime/protocol';
import type { MutationClass } from './annotations.ts';
import type { TerminalStatus } from './classes.ts';

export interface CallTelemetry {
  /** Undefined: this call is not traced. */
  startCall(call: CallStart): CallSpan | undefined;
}

export interface CallStart {
  /** Name of a known tool, or `(unknown)`: names from outside are not bounded. */
  readonly tool: string;
  readonly sessionId: string;
  readonly requestId: string;
  readonly callId: string;
  readonly actor: string;
  /** W3C trace context of the caller. */
  readonly traceparent?: string | undefined;
  readonly tracestate?: string | undefined;
}

/** As W3C writes it, for headers and `_meta`. */
export interface TraceContext {
  readonly traceparent: string;
  readonly tracestate?: string;
}

export interface CallSpan {
  /** The span itself, for what the call calls in turn. */
  readonly context?: TraceContext | undefined;
  /** The call enters this stage. A stage may come more than once, when arguments were edited. */
  stage(name: string): void;
  /** Called once, at the end. */
  end(end: CallEnd): void;
}

export interface CallEnd {
  readonly status: TerminalStatus;
  readonly errorCode?: string | undefined;
  readonly durationMs: number;
  readonly bytes: number;
  readonly filesTouched: number;
  /** What the call may have changed; `other` for a call whose arguments were not understood. */
  readonly mutationClass: MutationClass;
}

/** Events announce; nothing in the runtime steers by them. */
export interface RuntimeEvent {
  /** Increasing per runtime. To resume a dropped stream, a client keeps its own log by this number. */
  readonly id: number;
  readonly sessionId: string;
  readonly message: EventMessage;
}

/** Progress of calls and whatever needs attention, or every change of status too. */
export type EventSelection = 'progress' | 'all';

/** The one event that only listeners of `all` get: there are several for every call. */
export const STATUS_EVENT = 'CallStatusChanged';

/**
 * Figures of a session as they go over the wire, and how a tool reports them.
 *
 * Aliases, not interfaces: only an alias passes for JSON without a cast.
 */
export type ToolRollup = {
  readonly calls: number;
  /** Calls that did not succeed, denied ones included. */
  readonly errors: number;
  readonly error_codes: Readonly<Record<string, number>>;
  /** Calls a gate refused before anything ran. */
  readonly denials: number;
  readonly duration_ms: number;
  readonly max_duration_ms: number;
  /** Calls by duration: one number for each of `duration_bounds_ms` and one for what took longer. Not cumulative. */
  readonly durations: readonly number[];
  readonly files_touched: number;
  readonly bytes: number;
  /** How often a lock was not free at once, and how long that took together. */
  readonly lock_waits: number;
  readonly lock_wait_ms: number;
  readonly approval_waits: number;
  readonly approval_wait_ms: number;
};

export type MetricsRollup = {
  readonly tools: Readonly<Record<string, ToolRollup>>;
  readonly total: ToolRollup;
  readonly duration_bounds_ms: readonly number[];
};

/** The figures of the caller's own session. */
export interface SessionMetrics {
  /**
   * Announces them now and, for an interval above 0, again and again until the session ends. The newest interval counts;
   * 0 stops. Returns what was announced; the running call is not in it yet.
   */
  report(intervalMs: number): MetricsRollup;
}
