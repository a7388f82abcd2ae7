/** `@tool-runtime/fleet/host`: what a host needs to join a fleet. */
export type { Caller } from './bus/answer.ts';
export { type FleetMember, type JoinOptions, joinFleet } from './join-fleet.ts';
export type { JournalSource } from './records/ship-journal.ts';
export { type FleetFile, readFleetFile } from './wire/fleet-file.ts';
