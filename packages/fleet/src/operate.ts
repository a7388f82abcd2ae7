/** `@tool-runtime/fleet/operate`: what operators of a fleet look at and change. */
export { type DevServer, type DevServers, type DevServersOptions, startDevServers } from './operate/dev-servers.ts';
export { fleetMetrics } from './operate/fleet-metrics.ts';
export {
  drainHost,
  type FleetStatus,
  fleetStatus,
  type HostStatus,
  holderNow,
  listHosts,
  listOpenCalls,
  listWorkspaces,
  type OpenCallStatus,
  openCallsNow,
  type WorkspaceStatus,
  withWire,
} from './operate/overview.ts';
export type { FleetUser } from './operate/server-config.ts';
export { runPostgresSink, type SinkOptions } from './records/postgres-sink.ts';
export { type FleetCheck, type JournalCheck, verifyRecords } from './records/verify-records.ts';
export { checkFleet, type FleetFile, readFleetFile } from './wire/fleet-file.ts';
