/**
 * The lease of one host: the only thing it renews, however many workspaces it holds under it.
 *
 * The servers end a lease that is not renewed, by their own clock. The host ends it earlier by its monotonic clock, counted
 * from before it asked for the renewal, so that it has stopped before another host can begin. A lease that ended never comes
 * back: the host begins a new one under a new id, and takes its workspaces again.
 *
 * Another host takes a workspace only after it has closed the lease of the holder. That is a write behind the last message
 * it knows of, so the holder and it cannot both succeed; a read alone could come from a leader that has lost its majority.
 */
import { randomUUID } from 'node:crypto';
import { uptime } from 'node:os';
import type { StoredMsg } from '@nats-io/jetstream';
import { compareAndAppend, readLast } from '../wire/compare-and-append.ts';
import { freeSubject, hostLeaseSubject, STREAMS } from '../wire/names.ts';
import type { Wire } from '../wire/open-wire.ts';
import { sleep } from '../wire/sleep.ts';

export interface HostLeaseOptions {
  readonly wire: Wire;
  readonly host: string;
  readonly leaseMs: number;
}

/** A workspace that this host serves. */
export interface Dependent {
  readonly workspace: string;
  /** The lease of this host began or ended, or what it waits for did. */
  onChange(): void;
}

/** Share of the time on the servers for which the host itself trusts the lease. */
const TRUST = 0.75;
const RENEWALS = 6;
/** Looks per lease at a host that renews, and at one that has not renewed since the last look. */
const CALM_LOOKS = 2;
const EAGER_LOOKS = 12;
const CLOSE_MS = 15_000;
const LAST_WORDS_MS = 3000;
/** What keeps a lease closed is that it is not what its holder wrote last; the message is for those who look. */
const CLOSED_TTL = '3600s';
const CLOSED = JSON.stringify({ closed: true });
const MAX_KNOWN = 1000;
/** So many workspaces are asked about at once. */
const SLOTS = 64;

interface Held {
  readonly id: string;
  rev: number;
  until: number;
}

interface Watch {
  readonly waiting: Set<Dependent>;
  look: AbortController;
}

export class HostLease {
  readonly #options: HostLeaseOptions;
  readonly #stop = new AbortController();
  readonly #dependents = new Map<string, Dependent>();
  readonly #closed = new Set<string>();
  readonly #watches = new Map<string, Watch>();
  readonly #queue: (() => void)[] = [];
  #busy = 0;
  #held: Held | undefined;
  #running: Promise<void> | undefined;

  constructor(options: HostLeaseOptions) {
    this.#options = options;
  }

  get stopped(): AbortSignal {
    return this.#stop.signal;
  }

  /** Its id, while it is trusted. Synchronous: it is asked where an effect happens. */
  get id(): string | undefined {
    return this.#held !== undefined && now() < this.#held.until ? this.#held.id : undefined;
  }

  add(dependent: Dependent): void {
    this.#dependents.set(dependent.workspace, dependent);
  }

  /** One attempt, then in the background for as long as it runs. */
  async start(): Promise<void> {
    const { wire } = this.#options;
    wire.nc.subscribe(freeSubject(wire.tenant, '*'), {
      callback: (error, message) => {
        if (error === null) this.#heard(message.string());
      },
    });
    await this.#begin().catch(() => undefined);
    this.#running = this.#keep();
  }

  /** Says that a workspace, or all under a lease, may be taken. A hint: who misses it finds out later. */
  announce(free: string): void {
    const { nc, tenant } = this.#options.wire;
    if (!nc.isClosed()) nc.publish(freeSubject(tenant, free), free);
  }

  /** A host with thousands of workspaces asks about some of them at a time. */
  async inTurn<T>(work: () => Promise<T>): Promise<T> {
    if (this.#busy < SLOTS) this.#busy += 1;
    else await new Promise<void>((resolve) => this.#queue.push(resolve));
    try {
      return await work();
    } finally {
      const next = this.#queue.shift();
      if (next === undefined) this.#busy -= 1;
      else next();
    }
  }

  /** True once no host can act under this lease any more. Rejects when the servers do not answer. */
  async isClosed(id: string): Promise<boolean> {
    if (this.#closed.has(id)) return true;
    if (this.#watches.has(id)) return false;
    const { wire } = this.#options;
    const { message } = await readLast(wire, STREAMS.leases, hostLeaseSubject(id));
    return this.#closeBehind(id, message);
  }

  /** Tells the dependent when the lease of another host has ended. All that wait for one host share one look at it. */
  waitFor(id: string, dependent: Dependent): void {
    const known = this.#watches.get(id);
    if (known !== undefined) {
      known.waiting.add(dependent);
      return;
    }
    const watch = { waiting: new Set([dependent]), look: new AbortController() };
    this.#watches.set(id, watch);
    void this.#watch(id, watch);
  }

  /** Closes the lease, and with it all that is held under it. */
  async close(): Promise<void> {
    this.#stop.abort();
    for (const { look } of this.#watches.values()) look.abort();
    await this.#running;
    const held = this.#held;
    this.#drop();
    if (held === undefined) return;
    // One that cannot be closed ends by itself.
    const closed = await this.#close(held.id, held.rev, AbortSignal.timeout(LAST_WORDS_MS)).catch(() => undefined);
    if (closed?.won === true) this.announce(held.id);
  }

  async #keep(): Promise<void> {
    const { leaseMs } = this.#options;
    const { signal } = this.#stop;
    while (!signal.aborted) {
      await sleep(leaseMs / RENEWALS, signal);
      if (signal.aborted) return;
      try {
        await (this.#held === undefined ? this.#begin() : this.#renew(this.#held));
      } catch {
        // The servers do not answer. The lease ends by itself when that lasts.
      }
      if (this.#held !== undefined && now() >= this.#held.until) this.#drop();
    }
  }

  async #begin(): Promise<void> {
    const id = randomUUID();
    const since = now();
    const begun = await this.#write(id, 0, since);
    if (!begun.won || this.#stop.signal.aborted) return;
    this.#held = { id, rev: begun.seq, until: since + this.#options.leaseMs * TRUST };
    this.#tell();
  }

  async #renew(held: Held): Promise<void> {
    const since = now();
    const renewed = await this.#write(held.id, held.rev, since);
    if (this.#held !== held) return;
    if (renewed.won) {
      const wasOver = now() >= held.until;
      held.rev = renewed.seq;
      held.until = since + this.#options.leaseMs * TRUST;
      if (wasOver) this.#tell();
      return;
    }
    const state = stateOf(renewed.last);
    // A renewal of which no answer came had arrived after all; its time counts from an earlier moment, so it is renewed again.
    if (state === 'open') held.rev = renewed.last?.seq ?? held.rev;
    // A leader that was just elected may say that there is no lease. No other host acts before its time is over, so it
    // is asked again.
    else if (state === 'closed') this.#drop();
  }

  #write(id: string, expected: number, since: number) {
    const { wire, host, leaseMs } = this.#options;
    // A timer takes whole milliseconds only.
    const leftMs = Math.max(1, Math.floor(leaseMs * TRUST - (now() - since)));
    return compareAndAppend(wire, {
      stream: STREAMS.leases,
      subject: hostLeaseSubject(id),
      body: JSON.stringify({ host }),
      expected,
      ttl: `${Math.ceil(leaseMs / 1000)}s`,
      signal: AbortSignal.any([this.#stop.signal, AbortSignal.timeout(leftMs)]),
    });
  }

  #drop(): void {
    if (this.#held === undefined) return;
    this.#held = undefined;
    this.#tell();
  }

  #tell(): void {
    for (const dependent of this.#dependents.values()) dependent.onChange();
  }

  #heard(free: string): void {
    this.#dependents.get(free)?.onChange();
    this.#watches.get(free)?.look.abort();
  }

  async #watch(id: string, watch: Watch): Promise<void> {
    const { leaseMs, wire } = this.#options;
    const { signal } = this.#stop;
    let seen = 0;
    while (!signal.aborted) {
      let looks = EAGER_LOOKS;
      try {
        const { message } = await readLast(wire, STREAMS.leases, hostLeaseSubject(id));
        if (message === undefined || stateOf(message) !== 'open') break;
        if (message.seq !== seen) looks = CALM_LOOKS;
        seen = message.seq;
      } catch {
        // The servers do not answer: it is looked at again.
      }
      await sleep(leaseMs / looks, watch.look.signal);
      if (watch.look.signal.aborted) watch.look = new AbortController();
    }
    this.#watches.delete(id);
    for (const dependent of watch.waiting) dependent.onChange();
  }

  async #closeBehind(id: string, last: StoredMsg | undefined): Promise<boolean> {
    const state = stateOf(last);
    if (state === 'open') return false;
    if (state === 'ended') {
      const signal = AbortSignal.any([this.#stop.signal, AbortSignal.timeout(CLOSE_MS)]);
      const closed = await this.#close(id, last?.seq ?? 0, signal);
      if (!closed.won) return this.#closeBehind(id, closed.last);
    }
    if (this.#closed.size >= MAX_KNOWN) this.#closed.clear();
    this.#closed.add(id);
    return true;
  }

  #close(id: string, expected: number, signal: AbortSignal) {
    const { wire } = this.#options;
    const subject = hostLeaseSubject(id);
    return compareAndAppend(wire, { stream: STREAMS.leases, subject, body: CLOSED, expected, ttl: CLOSED_TTL, signal });
  }
}

/** `ended`: the servers ended it, or it never was; a write has yet to prove that. */
export function stateOf(message: Pick<StoredMsg, 'data' | 'string'> | undefined): 'open' | 'ended' | 'closed' {
  if (message === undefined || message.data.length === 0) return 'ended';
  return message.string() === CLOSED ? 'closed' : 'open';
}

/** Also runs while the machine sleeps, whichever of the two clocks does. */
function now(): number {
  return Math.max(performance.now(), uptime() * 1000 - BOOTED_MS);
}

const BOOTED_MS = uptime() * 1000 - performance.now();
