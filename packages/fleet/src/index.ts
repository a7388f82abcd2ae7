/** Many hosts as one: the client of a fleet. What hosts and operators use has entries of its own. */
export { type ConnectToFleetOptions, connectToFleet } from './connect-to-fleet.ts';
export type { FleetCredentials, FleetOptions } from './wire/fleet-file.ts';
