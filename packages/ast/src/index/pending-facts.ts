/**
 * Files that are parsed and whose facts were not read yet. A write is answered with the syntax known; the facts, which
 * take ten times as long, wait for the first question, for a quiet moment, or for their tree to be evicted.
 *
 * Until then the file's card has the new content's digest and the columns of the facts read last.
 */
import type { Problems } from '../symbols/read-problems.ts';
import type { FileCard } from './file-card.ts';
import type { UnreadFacts } from './parse-station.ts';
import { slices } from './time-slices.ts';

export interface PendingFile {
  readonly unread: UnreadFacts;
  /** The card of the facts read last: twins are matched with those. */
  readonly base: FileCard | undefined;
}

/** Puts the facts in their place, and the file out of the list. False when it must be parsed again. */
export type SettleFile = (path: string, file: PendingFile) => boolean;

/** Writes come in bursts; facts of what is overwritten at once would be read in vain. */
const QUIET_MS = 25;

export class PendingFacts {
  readonly #files = new Map<string, PendingFile>();
  readonly #settle: SettleFile;
  #timer: NodeJS.Timeout | undefined;
  #isSettling = false;

  constructor(settle: SettleFile) {
    this.#settle = settle;
  }

  has(path: string): boolean {
    return this.#files.has(path);
  }

  problems(path: string): Problems | undefined {
    return this.#files.get(path)?.unread.problems;
  }

  /** The card of the facts read last, for a file whose card is `card`. */
  baseOf(path: string, card: FileCard | undefined): FileCard | undefined {
    const file = this.#files.get(path);
    return file === undefined ? card : file.base;
  }

  /** Nothing was ever read of the file. */
  isFirst(path: string): boolean {
    const file = this.#files.get(path);
    return file !== undefined && file.base === undefined;
  }

  put(path: string, file: PendingFile): void {
    this.#files.set(path, file);
    if (this.#timer === undefined) this.#timer = setTimeout(() => void this.#settleQuietly(), QUIET_MS).unref();
    else this.#timer.refresh();
  }

  drop(path: string): void {
    this.#files.delete(path);
  }

  /** False when the file must be parsed again. */
  settleOne(path: string): boolean {
    const file = this.#files.get(path);
    return file === undefined || this.#settle(path, file);
  }

  /** Likewise for all, without giving way to others. */
  settleNow(): boolean {
    return [...this.#files.keys()].filter((path) => !this.settleOne(path)).length === 0;
  }

  /** All that wait now, in slices. The paths of those that must be parsed again. */
  async settleAll(signal?: AbortSignal): Promise<string[]> {
    const lost: string[] = [];
    if (this.#files.size === 0) return lost;
    const pace = slices(signal);
    for (const path of [...this.#files.keys()]) {
      if (pace.isDue()) await pace.pause();
      if (!this.settleOne(path)) lost.push(path);
    }
    return lost;
  }

  close(): void {
    clearTimeout(this.#timer);
    this.settleNow();
    this.#files.clear();
  }

  async #settleQuietly(): Promise<void> {
    if (this.#isSettling) return;
    this.#isSettling = true;
    try {
      await this.settleAll();
    } catch {
      // A caller that asks for these facts gets the same failure.
    } finally {
      this.#isSettling = false;
    }
  }
}
