/** How much one host takes on. Beyond these it refuses or waits; it never grows. */

export interface HostLimits {
  readonly maxConnections: number;
  readonly maxSessions: number;
  /** Calls that run at once on the whole host; further ones wait, sessions in turn. */
  readonly maxInFlight: number;
  /** Calls of one workspace that run or wait; a further one is answered with `busy`. No limit by default. */
  readonly maxWorkspaceCalls: number;
  /** Questions that wait for a person at once, of all sessions; a call that would ask one more is refused. */
  readonly maxQuestions: number;
  /** Failed attempts to authenticate of one source within a minute; further ones are answered with 429. */
  readonly maxAuthFailures: number;
  readonly maxHeaderBytes: number;
  /** Unanswered requests of one connection may weigh so much before it is not read any further. */
  readonly maxHeldBytes: number;
  /** A client that does not read gets no more events beyond this, and is not read from either. */
  readonly maxUnsentBytes: number;
  /** Events kept per session, for who comes back. */
  readonly keptEvents: number;
  /** Answers kept on the host, for who comes back, in characters. */
  readonly keptAnswers: number;
  /** Signs of life from the host to every connection. */
  readonly heartbeatMs: number;
  /** A session without messages, calls or connections ends after this, unless it asked for another limit. */
  readonly idleMs: number;
  /** A session that was opened for one connection outlives it by this. */
  readonly resumeMs: number;
  /** Time for headers, and for a body, to arrive. */
  readonly requestMs: number;
  /** A stream that waits for an MCP call (clients of 2025-11-25) is closed after this; the client comes back for the rest. */
  readonly mcpStreamMs: number;
}

export const DEFAULT_LIMITS: HostLimits = {
  maxConnections: 2048,
  maxSessions: 2048,
  maxInFlight: 256,
  maxWorkspaceCalls: Number.POSITIVE_INFINITY,
  maxQuestions: 2048,
  maxAuthFailures: 20,
  maxHeaderBytes: 16 * 1024,
  maxHeldBytes: 8 * 1024 * 1024,
  maxUnsentBytes: 4 * 1024 * 1024,
  keptEvents: 256,
  keptAnswers: 16 * 1024 * 1024,
  heartbeatMs: 15_000,
  idleMs: 15 * 60_000,
  resumeMs: 60_000,
  requestMs: 30_000,
  mcpStreamMs: 10 * 60_000,
};
