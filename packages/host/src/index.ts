/** Public surface of the host package: what an embedding program needs to serve envelopes itself. */
export { Connection, type ConnectionOptions } from './connection.ts';
export { httpCoordinator } from './coordinator/http-coordinator.ts';
export type { Reach } from './dispatch.ts';
export { type ServedSession, serveSession } from './host/served-session.ts';
export { reachOnly } from './reach-only.ts';
export { type RunningHost, type StartHostOptions, startHost } from './start-host.ts';
export { type StdioOptions, serveStdio } from './transports/stdio.ts';
