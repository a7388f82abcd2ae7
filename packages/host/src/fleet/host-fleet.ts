/** The port between a host and the fleet that it is part of. */
import type { Duplex } from 'node:stream';
import type { EffectLedger, Runtime } from '@tool-runtime/sdk';

/** What a fleet gives to one of its hosts; `joinFleet` of `@tool-runtime/fleet/host` makes one. */
export interface HostFleet {
  /** Name of the workspace in the fleet, by its folder. */
  nameOf(folder: string): string;
  ledgerOf(workspace: string): EffectLedger;
  serve(accept: (socket: Duplex, caller: FleetCaller) => void): Promise<void>;
  ship(workspace: string, runtime: () => Pick<Runtime, 'journalId' | 'records' | 'head'>): void;
  /** Gives workspaces back; calls that run go on. */
  drain(): Promise<void>;
  close(): Promise<void>;
}

export interface FleetCaller {
  readonly user: string;
  readonly workspace: string;
  /** It may answer approval questions of this host. An agent that may would approve its own calls. */
  readonly mayApprove?: boolean;
}
