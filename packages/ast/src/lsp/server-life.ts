/**
 * A server over all its processes: started when it is needed, stopped when it is idle for a while, started again at
 * a measured pace when it ends by itself.
 *
 * Nothing restarts by itself: the next request does it. A start is shared by everyone who waits for it, and goes on when
 * one of them gives up.
 */
import { isToolError, type JsonObject, type ToolError } from '@tool-runtime/protocol';
import type { Deadline, LspTimers } from './deadline.ts';
import type { ChangedPath } from './open-documents.ts';
import { coolingDown, serverGone } from './server-errors.ts';
import { openSession, type ServerSession, type SessionSetting } from './server-session.ts';

export type ServerState = 'stopped' | 'starting' | 'running';

const IDLE_MS = 10 * 60_000;

export class ServerLife {
  readonly #setting: SessionSetting;
  readonly #pace: RestartPace;
  readonly #closing = new AbortController();
  #live: ServerSession | undefined;
  #starting: Promise<ServerSession> | undefined;
  #generation = 0;
  #inFlight = 0;
  #lastUse = 0;
  #isStopping = false;
  /** What changed while the server started: it may have read the files before. */
  #missed: ChangedPath[] = [];
  #disarmIdle: () => void = () => {};

  constructor(setting: Omit<SessionSetting, 'signal'>) {
    this.#setting = { ...setting, signal: this.#closing.signal };
    this.#pace = new RestartPace(setting.provider.name, setting.timers);
  }

  get state(): ServerState {
    if (this.#live !== undefined) return 'running';
    return this.#starting === undefined ? 'stopped' : 'starting';
  }

  get live(): ServerSession | undefined {
    return this.#live;
  }

  get isBusy(): boolean {
    return this.#inFlight > 0;
  }

  get lastUse(): number {
    return this.#lastUse;
  }

  /** Runs `work` with a process that shook hands. Throws the reason if there is none, or E_TIMEOUT with `server_starting`. */
  async use<T>(deadline: Deadline, work: (session: ServerSession) => Promise<T>): Promise<T> {
    this.#inFlight += 1;
    this.#disarmIdle();
    try {
      return await work(await this.#session(deadline));
    } finally {
      this.#inFlight -= 1;
      this.#lastUse = this.#setting.timers.monotonic();
      if (this.#inFlight === 0) this.#armIdle();
    }
  }

  async changed(changes: readonly ChangedPath[]): Promise<void> {
    if (this.#starting !== undefined) this.#missed.push(...changes);
    await this.#live?.documents.changed(changes);
  }

  /** Ends the process; the next request starts another. */
  async stop(): Promise<void> {
    this.#disarmIdle();
    const session = this.#live;
    if (session === undefined) return;
    this.#live = undefined;
    this.#isStopping = true;
    await session.shutDown().finally(() => {
      this.#isStopping = false;
    });
  }

  /** Ends it for good, also a start that is under way. */
  async close(): Promise<void> {
    const { provider } = this.#setting;
    await this.stop();
    this.#closing.abort(serverGone(provider.name, 'closed'));
    await this.#starting?.catch(() => {});
  }

  #session(deadline: Deadline): Promise<ServerSession> {
    if (this.#live?.process.isEnding === false) return Promise.resolve(this.#live);
    this.#starting ??= this.#start().finally(() => {
      this.#starting = undefined;
    });
    return deadline.race(this.#starting, { late: 'server_starting' });
  }

  async #start(): Promise<ServerSession> {
    // One whose end is decided is waited for: its end sets the pace.
    await this.#live?.process.ended;
    await this.#pause(this.#pace.pauseMs());
    const { timers } = this.#setting;
    const begun = timers.monotonic();
    const session = await this.#open(begun);
    this.#live = session;
    session.process.ended.then((why) => {
      if (this.#live === session) this.#live = undefined;
      if (!this.#isStopping) this.#pace.ended(timers.monotonic() - begun, why);
    });
    if (this.#missed.length > 0) await session.documents.changed(this.#missed.splice(0));
    return session;
  }

  async #open(begun: number): Promise<ServerSession> {
    try {
      this.#closing.signal.throwIfAborted();
      return await openSession(this.#setting, ++this.#generation);
    } catch (thrown) {
      // A program that is not there does not become so by waiting.
      const isFault = isToolError(thrown) && thrown.code !== 'E_POLICY' && !this.#closing.signal.aborted;
      if (isFault) this.#pace.ended(this.#setting.timers.monotonic() - begun, thrown);
      throw thrown;
    }
  }

  async #pause(ms: number): Promise<void> {
    const { signal } = this.#closing;
    signal.throwIfAborted();
    if (ms === 0) return;
    const done = Promise.withResolvers<void>();
    const disarm = this.#setting.timers.after(ms, done.resolve);
    const onAbort = () => done.reject(signal.reason);
    signal.addEventListener('abort', onAbort, { once: true });
    await done.promise.finally(() => {
      disarm();
      signal.removeEventListener('abort', onAbort);
    });
  }

  #armIdle(): void {
    this.#disarmIdle();
    if (this.#live === undefined) return;
    this.#disarmIdle = this.#setting.timers.after(IDLE_MS, () => {
      this.stop().catch(() => {});
    });
  }
}

const PAUSES_MS = [500, 2_000, 8_000];
const COOLDOWN_MS = 5 * 60_000;
/** A server that ran this long did not fail at starting; its next end is the first again. */
const PROVEN_MS = 60_000;

/** How fast a server that keeps ending is started again: 0.5, 2, 8 seconds, then a rest of five minutes. */
export class RestartPace {
  readonly #provider: string;
  readonly #timers: LspTimers;
  #failures = 0;
  #notBefore = 0;
  #last: JsonObject = {};

  constructor(provider: string, timers: LspTimers) {
    this.#provider = provider;
    this.#timers = timers;
  }

  ended(livedMs: number, why: ToolError): void {
    if (livedMs >= PROVEN_MS) this.#failures = 0;
    this.#failures += 1;
    this.#last = why.details;
    const pause = PAUSES_MS[this.#failures - 1] ?? COOLDOWN_MS;
    this.#notBefore = this.#timers.monotonic() + pause;
  }

  /** Milliseconds to wait before the next start. Throws while the server rests. */
  pauseMs(): number {
    if (this.#failures === 0) return 0;
    const left = Math.max(0, this.#notBefore - this.#timers.monotonic());
    if (this.#failures <= PAUSES_MS.length) return left;
    if (left > 0) throw coolingDown(this.#provider, Math.ceil(left / 1_000), this.#last);
    this.#failures = 0;
    return 0;
  }
}
