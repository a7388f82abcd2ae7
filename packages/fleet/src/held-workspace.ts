/** One workspace that a host serves: its lease, and what the host does while it holds it. */
import type { Duplex } from 'node:stream';
import type { ArtifactStore, EffectLedger, LocalArtifacts } from '@tool-runtime/sdk';
import { type Answering, answerTunnels, type Caller } from './bus/answer.ts';
import { type SharedArtifacts, shareArtifacts } from './ledger/fleet-artifacts.ts';
import { FleetBudget } from './ledger/fleet-budget.ts';
import { createFleetLedger } from './ledger/fleet-ledger.ts';
import type { HostLease } from './ledger/host-lease.ts';
import type { Payloads } from './ledger/payloads.ts';
import { WorkspaceLease } from './ledger/workspace-lease.ts';
import { type JournalSource, type Shipping, shipJournal } from './records/ship-journal.ts';
import type { FleetFile } from './wire/fleet-file.ts';
import type { Wire } from './wire/open-wire.ts';
import { sleep } from './wire/sleep.ts';

const LAST_WORDS_MS = 3000;

export interface HeldSetting {
  readonly wire: Wire;
  readonly file: FleetFile;
  readonly host: string;
  readonly boot: string;
  /** Under which it holds all its workspaces. */
  readonly lease: HostLease;
  readonly payloads: Payloads;
  log(event: string, fields: Readonly<Record<string, unknown>>): void;
  /** It was taken or lost. */
  onChange(): void;
}

export class HeldWorkspace {
  readonly name: string;
  readonly lease: WorkspaceLease;
  readonly ledger: EffectLedger;
  readonly budget: FleetBudget | undefined;
  readonly #setting: HeldSetting;
  #accept: ((socket: Duplex, caller: Caller) => void) | undefined;
  #answering: Answering | undefined;
  #shipping: Shipping | undefined;
  #artifacts: SharedArtifacts | undefined;

  constructor(name: string, setting: HeldSetting) {
    const { wire, file, host, boot, lease, payloads } = setting;
    this.name = name;
    this.#setting = setting;
    this.lease = new WorkspaceLease({
      wire,
      workspace: name,
      host,
      zone: file.zone,
      lease,
      onHeld: (token) => this.#held(token),
      onLost: () => this.#lost(),
    });
    this.ledger = createFleetLedger({ wire, workspace: name, host, boot, lease: this.lease, payloads, now: Date.now });
    this.budget = budgetOf(wire, name, file.budget);
  }

  get isHeld(): boolean {
    return this.lease.token !== undefined;
  }

  get shipped(): ReturnType<Shipping['state']> | undefined {
    return this.#shipping?.state();
  }

  serve(accept: (socket: Duplex, caller: Caller) => void): void {
    this.#accept = accept;
    this.#listen();
  }

  shareArtifacts(local: LocalArtifacts): ArtifactStore {
    const { wire, payloads, log } = this.#setting;
    this.#artifacts = shareArtifacts(local, { wire, workspace: this.name, payloads, log });
    return this.#artifacts;
  }

  ship(source: JournalSource): void {
    const { wire, host, log } = this.#setting;
    this.#shipping ??= shipJournal(wire, { host, workspace: this.name, source, log });
  }

  /** After the lease of the host was closed. */
  async close(): Promise<void> {
    await this.lease.ended();
    await this.#shipping?.finish(AbortSignal.timeout(LAST_WORDS_MS));
    await this.budget?.close();
    await Promise.race([this.#artifacts?.settled(), sleep(LAST_WORDS_MS)]);
  }

  #held(token: number): void {
    this.#setting.log('workspace_held', { workspace: this.name, epoch: token });
    this.#listen();
    this.#setting.onChange();
  }

  #lost(): void {
    this.#setting.log('workspace_released', { workspace: this.name });
    this.#answering?.stop();
    this.#answering = undefined;
    this.#setting.onChange();
  }

  #listen(): void {
    const { wire, file } = this.#setting;
    if (this.#accept === undefined || !this.isHeld) return;
    this.#answering ??= answerTunnels(wire, this.name, {
      accept: this.#accept,
      maxTunnels: file.limits.connections,
      approvers: file.approvers,
    });
  }
}

function budgetOf(wire: Wire, workspace: string, budget: FleetFile['budget']): FleetBudget | undefined {
  if (budget === undefined) return undefined;
  const nameNow = (): string => `${workspace} ${new Date().toISOString().slice(0, 10)}`;
  return new FleetBudget({ wire, nameNow, calls: budget.calls_per_day });
}
