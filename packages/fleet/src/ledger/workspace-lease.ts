/**
 * Which of the hosts that serve a workspace works on it: the one that took it last, while the lease of that host lasts.
 *
 * Taking is one write behind the last one, and so is giving back; nothing is written in between. The token of a holding is the
 * sequence of the write that took it; it only grows, and records of calls carry it.
 */
import type { StoredMsg } from '@nats-io/jetstream';
import { ToolError } from '@tool-runtime/protocol';
import { z } from 'zod';
import { compareAndAppend, readLast } from '../wire/compare-and-append.ts';
import { leaseSubject, STREAMS } from '../wire/names.ts';
import type { Wire } from '../wire/open-wire.ts';
import { sleep } from '../wire/sleep.ts';
import type { Dependent, HostLease } from './host-lease.ts';

const holderSchema = z.object({
  host: z.string(),
  zone: z.string(),
  /** The lease of the host under which it holds the workspace. */
  lease: z.string(),
});

export interface Holder extends z.infer<typeof holderSchema> {
  readonly token: number;
}

export interface LeaseOptions {
  readonly wire: Wire;
  readonly workspace: string;
  readonly host: string;
  readonly zone: string;
  readonly lease: HostLease;
  onHeld(token: number): void;
  onLost(): void;
}

/** A workspace of another host is looked at again after so long, in case the word that it is free was lost. */
const LOOK_MS = 60_000;
const RETRY_MS = 500;
/** What cannot be given back ends with the lease of the host, so giving it back may take as long as an election. */
const GIVE_BACK_MS = 15_000;
const TAKE_MS = 15_000;

interface Held {
  readonly token: number;
  readonly lease: string;
}

export class WorkspaceLease implements Dependent {
  readonly workspace: string;
  readonly #options: LeaseOptions;
  #running: Promise<void> | undefined;
  #held: Held | undefined;
  #isWanted = true;
  #isDue = false;
  #awake: AbortController | undefined;

  constructor(options: LeaseOptions) {
    this.#options = options;
    this.workspace = options.workspace;
    options.lease.add(this);
  }

  /** The token, while the workspace is held. Synchronous: it is asked where an effect happens. */
  get token(): number | undefined {
    return this.#held !== undefined && this.#held.lease === this.#options.lease.id ? this.#held.token : undefined;
  }

  /** One attempt, then in the background until the lease of the host is closed. */
  async start(): Promise<void> {
    this.#running = this.#keep(await this.#attempt());
  }

  /** Gives the workspace back and does not take it again until it is wanted. */
  async want(isWanted: boolean): Promise<void> {
    this.#isWanted = isWanted;
    const held = this.#held;
    if (!isWanted && held !== undefined) {
      this.#drop();
      await this.#giveBack(held);
    }
    this.#wake();
  }

  onChange(): void {
    if (this.#held !== undefined && this.#held.lease !== this.#options.lease.id) this.#drop();
    this.#wake();
  }

  /** Resolves when nothing runs any more, after the lease of the host was closed. */
  async ended(): Promise<void> {
    this.#wake();
    await this.#running;
  }

  async #keep(firstMs: number): Promise<void> {
    const { stopped } = this.#options.lease;
    for (let ms = firstMs; !stopped.aborted; ms = await this.#attempt()) {
      this.#awake = new AbortController();
      if (!this.#isDue) await sleep(ms, this.#awake.signal);
      this.#isDue = false;
    }
  }

  #wake(): void {
    this.#isDue = true;
    this.#awake?.abort();
  }

  /** How long to wait for the next one when nothing is heard. */
  async #attempt(): Promise<number> {
    const { lease } = this.#options;
    if (this.#held !== undefined || !this.#isWanted || lease.id === undefined) return LOOK_MS;
    try {
      const holder = await lease.inTurn(() => this.#take());
      if (holder !== undefined) lease.waitFor(holder, this);
      return LOOK_MS;
    } catch {
      // The servers do not answer, or what they say is not from a host of this version.
      return RETRY_MS;
    }
  }

  /** The lease of the holder when it is another one; undefined when there is nothing to wait for. */
  async #take(): Promise<string | undefined> {
    const { wire, workspace, host, zone, lease } = this.#options;
    const subject = leaseSubject(workspace);
    let { message } = await readLast(wire, STREAMS.leases, subject);
    for (;;) {
      const own = lease.id;
      if (own === undefined || !this.#isWanted) return undefined;
      const holder = message === undefined ? undefined : holderOf(message);
      // What this very lease holds and this process does not know of was given up, or the answer to its write was lost.
      if (holder !== undefined && holder.lease !== own && !(await lease.isClosed(holder.lease))) return holder.lease;
      const taken = await compareAndAppend(wire, {
        stream: STREAMS.leases,
        subject,
        body: JSON.stringify({ host, zone, lease: own } satisfies Omit<Holder, 'token'>),
        expected: message?.seq ?? 0,
        signal: AbortSignal.any([lease.stopped, AbortSignal.timeout(TAKE_MS)]),
      });
      if (taken.won) {
        await this.#hold({ token: taken.seq, lease: own });
        return undefined;
      }
      message = taken.last;
    }
  }

  /** Much may have changed while the answer was on its way. */
  async #hold(held: Held): Promise<void> {
    if (held.lease !== this.#options.lease.id) return;
    if (!this.#isWanted) {
      await this.#giveBack(held);
      return;
    }
    this.#held = held;
    this.#options.onHeld(held.token);
  }

  #drop(): void {
    this.#held = undefined;
    this.#options.onLost();
  }

  async #giveBack({ token }: Held): Promise<void> {
    const { wire, workspace, lease } = this.#options;
    const given = await compareAndAppend(wire, {
      stream: STREAMS.leases,
      subject: leaseSubject(workspace),
      body: '',
      expected: token,
      ttl: '1s',
      signal: AbortSignal.timeout(GIVE_BACK_MS),
    }).catch(() => undefined);
    if (given?.won === true) lease.announce(workspace);
  }
}

type LeaseMessage = Pick<StoredMsg, 'data' | 'seq'> & { json(): unknown };

/** Undefined when it was given back. Whether the lease of the holder still lasts is another question. Throws for other records. */
export function holderOf(message: LeaseMessage): Holder | undefined {
  if (message.data.length === 0) return undefined;
  return { ...holderSchema.parse(message.json()), token: message.seq };
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
