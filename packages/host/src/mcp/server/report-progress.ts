/**
 * Progress of a call to the client that asked for it, and signs of life while there is none: clients give up early. Who
 * did not ask for progress but for log messages reads the same words there.
 */
import type { LoggingLevel, ServerContext } from '@modelcontextprotocol/server';

export interface ProgressReporter {
  /** An EventMessage as it goes over the wire. */
  report(event: string): void;
  stop(): void;
}

/** Well below the minute after which most clients stop waiting. */
const HEARTBEAT_MS = 15_000;
/** What a sign of life adds: progress has to grow, or it is none. */
const STEP = 0.001;
const INCLUDES_INFO: ReadonlySet<LoggingLevel | undefined> = new Set<LoggingLevel>(['debug', 'info']);

/** Undefined when the client asked for neither. */
export function createProgressReporter(
  ctx: ServerContext,
  logLevel: LoggingLevel | undefined,
): ProgressReporter | undefined {
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
