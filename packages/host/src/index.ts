/** Public surface of the host package: a host inside another program, or its parts to serve envelopes itself. */
export { createTokenBook, type TokenBook, type TokenBookOptions } from './auth/tokens.ts';
export { Connection, type ConnectionOptions } from './connection.ts';
export { httpCoordinator } from './coordinator/http-coordinator.ts';
export type { Reach } from './dispatch.ts';
export type { HostLimits } from './host/host-limits.ts';
export { type ServedSession, serveSession } from './host/served-session.ts';
export { createLog, type Log, type LogOptions } from './log/log.ts';
export { reachOnly } from './reach-only.ts';
export { type RunningHost, type StartHostOptions, startHost } from './start-host.ts';
export { type StdioOptions, serveStdio } from './transports/stdio.ts';
