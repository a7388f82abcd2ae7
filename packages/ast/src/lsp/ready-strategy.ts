/**
 * When a server's answers are whole.
 *
 * Several servers answer at once and wrongly: only the open file is renamed until the project is loaded. Each says in its
 * own way when that is over. A server can become unready again: when it reloads a project, or (`log-match`) when files
 * came or went and it has not yet looked through the folders again.
 */
import type { LspTimers } from './deadline.ts';

export type ReadyStrategy =
  /** Complete from the first answer on. */
  | { readonly kind: 'immediate' }
  /** All announced work is done and nothing new began for a while, once a document is open. */
  | { readonly kind: 'progress-idle'; readonly quietMs: number; readonly graceMs: number }
  /** A log line matches; `*` matches anything. After files came or went the next one is awaited, but not for longer. */
  | { readonly kind: 'log-match'; readonly lines: readonly string[]; readonly rescanMs: number }
  /** `experimental/serverStatus` says quiescent. */
  | { readonly kind: 'status-quiescent' };

export interface ServerHealth {
  readonly level: 'ok' | 'warning' | 'error';
  readonly message?: string;
}

export class Readiness {
  readonly #strategy: ReadyStrategy;
  readonly #timers: LspTimers;
  readonly #working = new Set<unknown>();
  #isReady: boolean;
  #turned = Promise.withResolvers<void>();
  #disarm: (() => void) | undefined;
  #health: ServerHealth = { level: 'ok' };

  constructor(strategy: ReadyStrategy, timers: LspTimers) {
    this.#strategy = strategy;
    this.#timers = timers;
    this.#isReady = strategy.kind === 'immediate';
    if (this.#isReady) this.#turned.resolve();
  }

  get isReady(): boolean {
    return this.#isReady;
  }

  get health(): ServerHealth {
    return this.#health;
  }

  whenReady(): Promise<void> {
    return this.#turned.promise;
  }

  documentOpened(): void {
    if (this.#strategy.kind !== 'progress-idle' || this.#working.size > 0 || this.#disarm !== undefined) return;
    this.#readyAfter(this.#strategy.graceMs);
  }

  /** Files the server may know came or went. A server need not care (and then logs nothing), so the wait is bounded. */
  fileSetChanged(): void {
    if (this.#strategy.kind !== 'log-match' || (!this.#isReady && this.#disarm === undefined)) return;
    this.#turn(false);
    this.#readyAfter(this.#strategy.rescanMs);
  }

  notice(method: string, params: unknown): void {
    const given = record(params);
    if (method === 'window/logMessage' || method === 'window/showMessage') this.#log(given['message']);
    else if (method === 'experimental/serverStatus') this.#status(given);
  }

  progress(token: unknown, value: unknown): void {
    if (this.#strategy.kind !== 'progress-idle') return;
    const { kind } = record(value);
    if (kind === 'begin') {
      this.#working.add(token);
      this.#dispose();
      this.#turn(false);
    } else if (kind === 'end' && this.#working.delete(token) && this.#working.size === 0) {
      this.#readyAfter(this.#strategy.quietMs);
    }
  }

  dispose(): void {
    this.#dispose();
  }

  readonly #dispose = (): void => {
    this.#disarm?.();
    this.#disarm = undefined;
  };

  #readyAfter(ms: number): void {
    this.#dispose();
    this.#disarm = this.#timers.after(ms, () => this.#turn(true));
  }

  #log(message: unknown): void {
    if (this.#strategy.kind !== 'log-match' || typeof message !== 'string') return;
    if (!this.#strategy.lines.some((line) => matchesLine(line, message))) return;
    this.#dispose();
    this.#turn(true);
  }

  #status({ quiescent, health, message }: Record<string, unknown>): void {
    this.#health = {
      level: health === 'warning' || health === 'error' ? health : 'ok',
      ...(typeof message === 'string' ? { message: message.slice(0, 500) } : {}),
    };
    if (this.#strategy.kind === 'status-quiescent' && typeof quiescent === 'boolean') this.#turn(quiescent);
  }

  #turn(isReady: boolean): void {
    if (isReady === this.#isReady) return;
    this.#isReady = isReady;
    if (isReady) this.#turned.resolve();
    else this.#turned = Promise.withResolvers();
  }
}

/** Pieces between stars in order, anchored at both ends; no backtracking for any pattern. */
export function matchesLine(pattern: string, line: string): boolean {
  const [first = '', ...others] = pattern.split('*');
  const last = others.pop();
  if (last === undefined) return line === pattern;
  if (!line.startsWith(first)) return false;
  let from = first.length;
  for (const piece of others) {
    const at = line.indexOf(piece, from);
    if (at < 0) return false;
    from = at + piece.length;
  }
  return line.length - last.length >= from && line.endsWith(last);
}

function record(value: unknown): Record<string, unknown> {
  return typeof value === 'object' && value !== null ? (value as Record<string, unknown>) : {};
}
