/** The port between a host and the fleet that it is part of. */
import type { Duplex } from 'node:stream';
import type { FleetState, JsonObject } from '@tool-runtime/protocol';
import type { ArtifactStore, BudgetPort, EffectLedger, LocalArtifacts, Runtime } from '@tool-runtime/sdk';
import type { ChildCarrier } from '../sessions/child-work.ts';

/** What a fleet gives to one of its hosts; `joinFleet` of `@tool-runtime/fleet/host` makes one. */
export interface HostFleet extends ChildCarrier {
  /** Name of the workspace in the fleet, by its folder. */
  nameOf(folder: string): string;
  ledgerOf(workspace: string): EffectLedger;
  /** Shared by all hosts; undefined when the fleet has none. */
  budgetOf?(workspace: string): BudgetPort | undefined;
  /** Where artifacts of this host are read by the others, and theirs here. */
  artifactsOf?(workspace: string, local: LocalArtifacts): ArtifactStore;
  /** Calls of one workspace that may run or wait at once. */
  readonly maxCalls?: number;
  /** Whether this host holds the workspace now. */
  holds?(workspace: string): boolean;
  /**
   * Sends a request to the holder of a workspace, in the name of someone this host has let in. Undefined when this host
   * became the holder meanwhile.
   */
  forward?(request: Request, to: { readonly workspace: string; readonly name: string }): Promise<Response | undefined>;
  /** Approval questions of other hosts: answers theirs here, and asks them. */
  serveApprovals?(answer: (question: JsonObject, by: string) => JsonObject | undefined): void;
  askApprovals?(question: JsonObject): Promise<readonly JsonObject[]>;
  /** What operators see of the fleet, as far as this host can tell. */
  state?(): Promise<FleetState>;
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
  /** The host that let it in and vouches for its name. */
  readonly via?: string;
}
