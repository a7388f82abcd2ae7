/** Public surface of the host package: a host inside another program, or its parts to serve envelopes itself. */
export { createTokenBook, type TokenBook, type TokenBookOptions } from './auth/tokens.ts';
export { httpCoordinator } from './coordinator/http-coordinator.ts';
export { Connection, type ConnectionOptions } from './dispatch/connection.ts';
export { reachOnly } from './dispatch/reach-only.ts';
export type { FleetCaller, HostFleet } from './fleet/host-fleet.ts';
export { createLog, type Log, type LogOptions } from './ops/log.ts';
export type { HostLimits } from './sessions/host-limits.ts';
export type { Reach } from './sessions/reach.ts';
export { type ServedSession, serveSession } from './sessions/served-session.ts';
export { type RunningHost, type StartHostOptions, startHost } from './start-host.ts';
export { type StdioOptions, serveStdio } from './transports/stdio.ts';
