/**
 * One mounted server for as long as the runtime lives: started with the first call, shared by all of them, started again
 * when it ended, and later and later when it keeps ending. A call that was under way then fails and is never repeated.
 */
import { setTimeout as delay } from 'node:timers/promises';
import { UnauthorizedError } from '@modelcontextprotocol/client';
import { isToolError, type JsonObject, type ToolError } from '@tool-runtime/protocol';
import type { OpenCommandRunner, ToolContext } from '@tool-runtime/sdk';
import type { RefreshReport } from './compare-pins.ts';
import { Connection } from './connection.ts';
import type { ForeignDefinition } from './foreign-definition.ts';
import { type ForeignData, foreignResult } from './foreign-result.ts';
import { openCommand, openHttp, type TransportSetting, wallOf } from './open-transport.ts';
import { checkStructured } from './structured-output.ts';
import { type FailureSubject, serverEnded, toUpstreamFailure, upstreamFailure } from './upstream-failure.ts';

export interface UpstreamSetting extends TransportSetting {
  readonly isolation: 'bubblewrap' | 'none';
  openPrograms(wall: ReturnType<typeof wallOf>): OpenCommandRunner;
  /** Whether the server is known to speak the revisions of 2025 only. */
  isLegacy(): boolean;
  /** Compares a live listing with the pins and keeps what is new. */
  review(connection: Connection): Promise<RefreshReport>;
}

export interface CalledTool {
  readonly definition: ForeignDefinition;
  /** Looked at again when the server's listing is known: what it lists now may not be what was approved. */
  quarantine(): ToolError | undefined;
}

const FIRST_WAIT_MS = 250;
const LONGEST_WAIT_MS = 60_000;
/** Longer than this a call is told to come back instead of being kept. */
const PATIENCE_MS = 2_000;
const MAX_SIGN_INS = 1;

export class Upstream {
  readonly #setting: UpstreamSetting;
  readonly #reviewed = new WeakMap<Connection, { listing: unknown; report: Promise<RefreshReport> }>();
  #runner: OpenCommandRunner | undefined;
  #connection: Promise<Connection> | undefined;
  #live: Connection | undefined;
  #failures = 0;
  #notBefore = 0;
  #isClosed = false;

  constructor(setting: UpstreamSetting) {
    this.#setting = setting;
  }

  get isRunning(): boolean {
    return this.#live !== undefined && !this.#live.isClosed;
  }

  async call({ definition, quarantine }: CalledTool, args: JsonObject, context: ToolContext): Promise<ForeignData> {
    const subject = this.#subject(definition.name);
    let connection: Connection | undefined;
    try {
      const ready = await this.#untilAborted(this.#ready(), context.signal);
      connection = ready;
      await this.#untilAborted(this.#reviewOnce(ready), context.signal);
      const refusal = quarantine();
      if (refusal !== undefined) throw refusal;
      const result = await this.#authorized(ready, () => ready.call(definition, args, context, subject));
      this.#failures = 0;
      checkStructured(definition, result, subject);
      return foreignResult(result, { ...subject, context });
    } catch (thrown) {
      if (context.signal.aborted) {
        if (connection !== undefined) await this.#stopIfStuck(connection);
        throw context.signal.reason;
      }
      const ended = connection?.isClosed === true ? connection.end : undefined;
      throw toUpstreamFailure(thrown, ended === undefined ? subject : { ...subject, end: ended });
    }
  }

  /** Lists the tools anew, whatever was known. */
  async refresh(): Promise<RefreshReport> {
    try {
      await this.#disconnect();
      const connection = await this.#ready({ isKnown: false });
      return await this.#reviewOnce(connection);
    } catch (thrown) {
      throw toUpstreamFailure(thrown, this.#subject());
    }
  }

  async close(): Promise<void> {
    this.#isClosed = true;
    await this.#disconnect();
    await this.#runner?.close();
  }

  async #disconnect(): Promise<void> {
    const connection = await this.#connection?.catch(() => undefined);
    this.#connection = undefined;
    this.#live = undefined;
    await connection?.close();
  }

  #ready({ isKnown = true } = {}): Promise<Connection> {
    this.#connection ??= this.#connect(isKnown).catch((thrown) => {
      this.#connection = undefined;
      this.#noteFailure();
      throw thrown;
    });
    return this.#connection;
  }

  async #connect(isKnown: boolean): Promise<Connection> {
    await this.#waitOutFailures();
    if (this.#isClosed) throw serverEnded(this.#subject());
    const known = isKnown && this.#setting.isLegacy() ? 'legacy' : undefined;
    try {
      return await this.#open(known);
    } catch (thrown) {
      if (!isToolError(thrown) || thrown.details['reason'] !== 'server_unreachable') throw thrown;
      // A connection that was kept may be gone on the other side: nothing was asked yet, so once more is safe.
      if (this.#setting.settings.command === undefined) return await this.#open(known);
      // Some servers of 2025 end when they are asked anything before the handshake.
      if (known === undefined && thrown.details['end'] !== undefined) return await this.#open('legacy');
      throw thrown;
    }
  }

  async #open(known: 'legacy' | undefined): Promise<Connection> {
    for (let attempt = 0; ; attempt++) {
      const connection = this.#newConnection();
      try {
        await connection.open(known);
        this.#live = connection;
        return connection;
      } catch (thrown) {
        const { end } = connection;
        await connection.close();
        const { authorization } = this.#setting;
        if (!(thrown instanceof UnauthorizedError) || authorization === undefined || attempt > 0) {
          throw toUpstreamFailure(thrown, { ...this.#subject(), isStarting: true, end });
        }
        await authorization.finish(connection.transport);
      }
    }
  }

  #newConnection(): Connection {
    const { settings, isolation } = this.#setting;
    if (settings.command === undefined) return new Connection(openHttp(this.#setting), () => this.#onClosed());
    const wall = wallOf(settings, isolation);
    this.#runner ??= this.#setting.openPrograms(wall);
    return new Connection(openCommand(this.#setting, this.#runner, wall), () => this.#onClosed());
  }

  /** Of the live connection only: one that never came to life is counted where it failed. */
  #onClosed(): void {
    if (this.#live?.isClosed !== true) return;
    const { end } = this.#live;
    this.#live = undefined;
    this.#connection = undefined;
    if (this.#isClosed) return;
    this.#setting.log.warn('mcp_server_ended', { server: this.#setting.server, end: end ?? 'connection closed' });
    this.#noteFailure();
  }

  #noteFailure(): void {
    const wait = Math.min(FIRST_WAIT_MS * 2 ** this.#failures, LONGEST_WAIT_MS);
    this.#failures += 1;
    this.#notBefore = performance.now() + wait;
  }

  async #waitOutFailures(): Promise<void> {
    const wait = Math.ceil(this.#notBefore - performance.now());
    if (wait <= 0) return;
    if (wait > PATIENCE_MS) {
      throw upstreamFailure(this.#subject(), 'MCP server keeps ending and is given a rest', {
        reason: 'server_resting',
        retry: 'retryable',
        retry_after_ms: wait,
      });
    }
    await delay(wait, undefined, { ref: false });
  }

  /** A request that was refused for want of rights did nothing, so it may be sent again when they are there. */
  async #authorized<T>(connection: Connection, send: () => Promise<T>): Promise<T> {
    const { authorization } = this.#setting;
    for (let attempt = 0; ; attempt++) {
      try {
        return await send();
      } catch (thrown) {
        if (!(thrown instanceof UnauthorizedError) || authorization === undefined || attempt === MAX_SIGN_INS)
          throw thrown;
        await authorization.finish(connection.transport);
      }
    }
  }

  /** Once for each listing the server has given. */
  #reviewOnce(connection: Connection): Promise<RefreshReport> {
    return this.#authorized(connection, () => this.#reviewListing(connection));
  }

  async #reviewListing(connection: Connection): Promise<RefreshReport> {
    const listing = connection.listTools();
    const known = this.#reviewed.get(connection);
    if (known?.listing === listing) return known.report;
    const report = this.#setting.review(connection);
    this.#reviewed.set(connection, { listing, report });
    return report;
  }

  /** The server was told to stop; a process that is deaf now is killed with all it started. */
  async #stopIfStuck(connection: Connection): Promise<void> {
    if (this.#setting.settings.command === undefined || connection.isClosed) return;
    if (!(await connection.isAlive())) await connection.kill('being killed: it did not stop when it was told to');
  }

  async #untilAborted<T>(work: Promise<T>, signal: AbortSignal): Promise<T> {
    if (signal.aborted) throw signal.reason;
    const { promise, reject } = Promise.withResolvers<never>();
    const onAbort = (): void => reject(signal.reason);
    signal.addEventListener('abort', onAbort, { once: true });
    try {
      return await Promise.race([work, promise]);
    } finally {
      signal.removeEventListener('abort', onAbort);
    }
  }

  #subject(tool?: string): FailureSubject {
    const { server, settings, redact } = this.#setting;
    return { server, settings, redact, ...(tool === undefined ? {} : { tool }) };
  }
}
