/** Sessions that come and go: each place is filled again when its client leaves, its connection breaks or the host dies. */
import { setTimeout as pause } from 'node:timers/promises';
import type { Pool } from 'undici';
import type { CallBook } from '../../../packages/host/test/load/call-book.ts';
import { openPool, type ServeAddress } from '../../../packages/host/test/load/load-clients.ts';
import type { SeededRandom } from '../../../packages/host/test/load/seeded-random.ts';
import type { TimeLine } from '../time-line.ts';
import type { Violations } from '../violations.ts';
import { type ChaosClient, openClient, WAYS, type Way } from './chaos-client.ts';

export interface ClientPoolOptions {
  readonly book: CallBook;
  readonly random: SeededRandom;
  readonly timeLine: TimeLine;
  readonly violations: Violations;
  /** Names of the workspaces; the first is the one all ways lead to. */
  readonly sites: readonly string[];
  /** Sessions at the same time. */
  readonly size: number;
  /** Filled in: session → workspace. */
  readonly siteOf: Map<string, string>;
}

/** Where all calls of a client are answered before it goes; else they are cut off with it. */
const GRACEFUL = 0.8;
const BREAKING = /kill|few-descriptors|read-only-state/;
const LEAVE_WAIT_MS = 15_000;

interface Connected {
  readonly serve: ServeAddress;
  readonly pool: Pool;
}

export class ClientPool {
  readonly #options: ClientPoolOptions;
  readonly #clients = new Set<ChaosClient>();
  readonly #places: Promise<void>[] = [];
  #connected: Connected | undefined;
  #isOver = false;
  opened = 0;
  /** Sessions of the present host that were not ended. */
  abandoned = 0;

  constructor(options: ClientPoolOptions) {
    this.#options = options;
  }

  connect(serve: ServeAddress): void {
    this.#connected = { serve, pool: openPool(serve, 32) };
    if (this.#places.length > 0) return;
    for (let place = 0; place < this.#options.size; place++) this.#places.push(this.#fill(place));
  }

  /** The host is gone, and every connection with it. */
  abandon(): void {
    const { pool } = this.#connected ?? {};
    this.#connected = undefined;
    this.#clients.clear();
    this.abandoned = 0;
    void pool?.destroy();
    this.#options.book.lose(() => true);
  }

  pick(site: string): ChaosClient | undefined {
    const there = [...this.#clients].filter((client) => client.site === site && !client.isLeaving);
    return there.length === 0 ? undefined : this.#options.random.pick(there);
  }

  /** All clients close their sessions; resolves when all sessions have ended. */
  async close(): Promise<void> {
    this.#isOver = true;
    await Promise.all(this.#places);
    await this.#connected?.pool.close();
  }

  async #fill(place: number): Promise<void> {
    const { sites, random } = this.#options;
    const way = WAYS[place % WAYS.length] ?? 'http';
    while (!this.#isOver) {
      const connected = this.#connected;
      const hasChoice = way !== 'websocket' && way !== 'lines';
      const site = (hasChoice ? random.pick(sites) : sites[0]) ?? '';
      const client = connected === undefined ? undefined : await this.#open(connected, way, site);
      if (client === undefined) await pause(100);
      else await this.#serveOut(client);
    }
  }

  async #open(connected: Connected, way: Way, site: string): Promise<ChaosClient | undefined> {
    const { book, random, timeLine, violations } = this.#options;
    const begunMs = timeLine.nowMs;
    try {
      const client = await openClient({ ...connected, way, site, book, wantsEvents: random.below(3) === 0 });
      if (this.#connected !== connected) return undefined;
      this.#clients.add(client);
      this.#options.siteOf.set(client.sessionId, site);
      this.opened += 1;
      return client;
    } catch (thrown) {
      // It may have been opened although the answer was lost.
      this.abandoned += 2;
      if (timeLine.isCalmSince(begunMs)) violations.add(`no session over ${way} although nothing was wrong: ${thrown}`);
      return undefined;
    }
  }

  /** Until it has been there long enough, or is gone. */
  async #serveOut(client: ChaosClient): Promise<void> {
    const { random, timeLine } = this.#options;
    const untilMs = timeLine.nowMs + 3000 + random.below(25_000);
    const isBroken = await this.#lasts(client, untilMs);
    client.isLeaving = true;
    if (isBroken) {
      this.abandoned += 1;
      return;
    }
    if (random.next() < GRACEFUL) await this.#quiet(client);
    await this.#say(client);
    this.#options.book.lose((call) => call.sessionId === client.sessionId);
    this.#clients.delete(client);
  }

  async #lasts(client: ChaosClient, untilMs: number): Promise<boolean> {
    let isGone = false;
    void client.closed.then(() => {
      isGone = true;
    });
    while (!this.#isOver && this.#options.timeLine.nowMs < untilMs) {
      if (isGone) this.#judgeBreak(client);
      if (isGone || !this.#clients.has(client)) {
        this.#clients.delete(client);
        return true;
      }
      await pause(50);
    }
    return false;
  }

  /** A connection breaks with its host, or where there are no descriptors for it; nothing else is a reason. */
  #judgeBreak(client: ChaosClient): void {
    const { timeLine, violations } = this.#options;
    if (!this.#clients.has(client) || timeLine.wasRecently(BREAKING)) return;
    violations.add(
      `connection over ${client.transport} broke while there was (${timeLine.active.join(', ') || 'nothing'})`,
    );
  }

  async #quiet(client: ChaosClient): Promise<void> {
    const deadline = performance.now() + LEAVE_WAIT_MS;
    while (client.inFlight > 0 && this.#clients.has(client) && performance.now() < deadline) await pause(20);
  }

  async #say(client: ChaosClient): Promise<void> {
    const { timeLine, violations } = this.#options;
    const begunMs = timeLine.nowMs;
    const late = pause(LEAVE_WAIT_MS, 'late', { ref: false });
    const said = await Promise.race([client.close().catch((thrown: unknown) => String(thrown)), late]);
    // A child and its parent.
    if (said !== undefined) this.abandoned += 2;
    if (said !== undefined && timeLine.isCalmSince(begunMs) && this.#clients.has(client)) {
      violations.add(`session over ${client.transport} did not close although nothing was wrong: ${said}`);
    }
  }
}
