/**
 * The lease of one workspace: of all hosts that serve it, the one that holds it works on it.
 *
 * The servers end a lease that is not renewed, by their own clock. The holder ends it earlier by its monotonic clock, counted
 * from before it asked for the renewal, so that it has stopped before another host can begin. The token of a lease is the
 * sequence of the write that took it; it only grows, and records of calls carry it.
 */
import { uptime } from 'node:os';
import type { StoredMsg } from '@nats-io/jetstream';
import { ToolError } from '@tool-runtime/protocol';
import { z } from 'zod';
import { compareAndAppend, readLast } from '../wire/compare-and-append.ts';
import { freeSubject, leaseSubject, STREAMS } from '../wire/names.ts';
import type { Wire } from '../wire/open-wire.ts';
import { sleep } from '../wire/sleep.ts';

const holderSchema = z.object({
  host: z.string(),
  boot: z.string(),
  zone: z.string(),
  /** Left out in the write that takes the lease. */
  token: z.number().optional(),
});

export interface Holder {
  readonly host: string;
  readonly boot: string;
  readonly zone: string;
  readonly token: number;
}

export interface LeaseOptions {
  readonly wire: Wire;
  readonly workspace: string;
  readonly host: string;
  readonly zone: string;
  /** Of this process. */
  readonly boot: string;
  readonly leaseMs: number;
  onHeld(token: number): void;
  onLost(): void;
}

/** Share of the time on the servers for which the holder itself trusts the lease. */
const TRUST = 0.75;
/** How often a host that waits looks; a lease that is given back is announced, so this is for leases that ended. */
const MAX_LOOK_MS = 2500;
/** A lease that cannot be given back ends by itself, so giving it back may take as long as an election. */
const GIVE_BACK_MS = 15_000;
const LAST_WORDS_MS = 3000;

export class WorkspaceLease {
  readonly #options: LeaseOptions;
  readonly #stop = new AbortController();
  #running: Promise<void> | undefined;
  #held: { readonly token: number; rev: number; until: number } | undefined;
  #isWanted = true;
  #wake: (() => void) | undefined;

  constructor(options: LeaseOptions) {
    this.#options = options;
  }

  /** The token, while the lease is held. Synchronous: it is asked where an effect happens. */
  get token(): number | undefined {
    return this.#held !== undefined && now() < this.#held.until ? this.#held.token : undefined;
  }

  get isWanted(): boolean {
    return this.#isWanted;
  }

  /** One attempt, then in the background for as long as it runs. */
  async start(): Promise<void> {
    const { wire, workspace } = this.#options;
    wire.nc.subscribe(freeSubject(wire.tenant, workspace), { callback: () => this.#wake?.() });
    await this.#take().catch(() => undefined);
    this.#running = this.#keep();
  }

  /** Gives the lease back and does not take it again until it is wanted. */
  async want(isWanted: boolean): Promise<void> {
    this.#isWanted = isWanted;
    if (!isWanted) await this.#release(GIVE_BACK_MS);
    this.#wake?.();
  }

  async close(): Promise<void> {
    this.#stop.abort();
    this.#wake?.();
    await this.#running;
    await this.#release(LAST_WORDS_MS);
  }

  async #keep(): Promise<void> {
    const { leaseMs } = this.#options;
    const { signal } = this.#stop;
    while (!signal.aborted) {
      await this.#pause(Math.min(leaseMs / 6, this.#held === undefined ? MAX_LOOK_MS : Number.POSITIVE_INFINITY));
      if (signal.aborted) return;
      try {
        if (this.#held !== undefined) await this.#renew(this.#held);
        else if (this.#isWanted) await this.#take();
      } catch {
        // The servers do not answer. The lease ends by itself when that lasts.
      }
      if (this.#held !== undefined && now() >= this.#held.until) this.#drop();
    }
  }

  async #pause(ms: number): Promise<void> {
    const awake = new AbortController();
    this.#wake = () => awake.abort();
    await sleep(ms, AbortSignal.any([awake.signal, this.#stop.signal]));
  }

  async #take(): Promise<void> {
    const { wire, workspace, leaseMs } = this.#options;
    const { message } = await readLast(wire, STREAMS.leases, leaseSubject(workspace));
    if (message !== undefined && !isEnded(message)) return;
    const since = now();
    const taken = await this.#write({}, message?.seq ?? 0, since);
    if (!taken.won || !this.#isWanted || this.#stop.signal.aborted) return;
    this.#held = { token: taken.seq, rev: taken.seq, until: since + leaseMs * TRUST };
    this.#options.onHeld(taken.seq);
  }

  async #renew(held: { readonly token: number; rev: number; until: number }): Promise<void> {
    const { leaseMs } = this.#options;
    const since = now();
    const renewed = await this.#write({ token: held.token }, held.rev, since);
    if (this.#held !== held) return;
    if (renewed.won) {
      held.rev = renewed.seq;
      held.until = since + leaseMs * TRUST;
    } else if (this.#isOwn(renewed.last, held.token)) {
      // A renewal of which no answer came had arrived after all; its time counts from an earlier moment, so it is renewed again.
      held.rev = renewed.last?.seq ?? held.rev;
    } else this.#drop();
  }

  #isOwn(message: StoredMsg | undefined, token: number): boolean {
    if (message === undefined || isEnded(message)) return false;
    const holder = holderOf(message);
    return holder?.boot === this.#options.boot && (holder.token === token || message.seq === token);
  }

  #write(more: { readonly token?: number }, expected: number, since: number) {
    const { wire, workspace, host, zone, boot, leaseMs } = this.#options;
    return compareAndAppend(wire, {
      stream: STREAMS.leases,
      subject: leaseSubject(workspace),
      body: JSON.stringify({ host, zone, boot, ...more }),
      expected,
      ttl: `${Math.ceil(leaseMs / 1000)}s`,
      signal: AbortSignal.any([this.#stop.signal, AbortSignal.timeout(Math.max(1, leaseMs * TRUST - (now() - since)))]),
    });
  }

  #drop(): void {
    if (this.#held === undefined) return;
    this.#held = undefined;
    this.#options.onLost();
  }

  async #release(patienceMs: number): Promise<void> {
    const held = this.#held;
    if (held === undefined) return;
    this.#drop();
    const { wire, workspace } = this.#options;
    // What cannot be given back ends by itself.
    const released = await compareAndAppend(wire, {
      stream: STREAMS.leases,
      subject: leaseSubject(workspace),
      body: '',
      expected: held.rev,
      ttl: '1s',
      signal: AbortSignal.timeout(patienceMs),
    }).catch(() => undefined);
    if (released?.won === true && !wire.nc.isClosed()) wire.nc.publish(freeSubject(wire.tenant, workspace));
  }
}

/** Also runs while the machine sleeps, whichever of the two clocks does. */
function now(): number {
  return Math.max(performance.now(), uptime() * 1000 - BOOTED_MS);
}

const BOOTED_MS = uptime() * 1000 - performance.now();

type LeaseMessage = Pick<StoredMsg, 'data' | 'seq'> & { json(): unknown };

/** Given back, deleted, or ended by the servers. */
export function isEnded(message: Pick<StoredMsg, 'data'>): boolean {
  return message.data.length === 0;
}

export function holderOf(message: LeaseMessage): Holder | undefined {
  if (isEnded(message)) return undefined;
  const parsed = holderSchema.safeParse(message.json());
  return parsed.success ? { ...parsed.data, token: parsed.data.token ?? message.seq } : undefined;
}

export function fenced(workspace: string): ToolError {
  return new ToolError('E_POLICY', `This host does not hold the workspace: ${workspace}`, {
    details: {
      gate: 'fleet',
      reason: 'fenced',
      retry: 'retryable',
      workspace,
      next: 'send the call through the fleet; it goes to the host that holds the workspace',
    },
  });
}
