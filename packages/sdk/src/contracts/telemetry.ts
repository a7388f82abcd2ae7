/**
 * Tracing as a port: the runtime says what happens to a call, an adapter makes spans of it.
 *
 * Nothing here carries arguments or results. A span that throws is dropped; the call goes on.
 */
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
