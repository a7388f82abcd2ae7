/** What must not have happened, each with its moment and what went before. All are counted, the first are kept. */
import type { Problems } from '../../packages/host/test/load/problems.ts';
import type { TimeLine } from './time-line.ts';

const KEPT = 20;
const CONTEXT = 12;

export interface Violation {
  readonly atMs: number;
  readonly text: string;
  readonly before: readonly string[];
}

export class Violations implements Problems {
  readonly kept: Violation[] = [];
  count = 0;
  readonly #timeLine: TimeLine;
  /** Says each violation at once: a run that hangs afterwards has said it all the same. */
  readonly #announce: (text: string) => void;

  constructor(timeLine: TimeLine, announce: (text: string) => void = () => {}) {
    this.#timeLine = timeLine;
    this.#announce = announce;
  }

  get first(): string[] {
    return this.kept.map(({ text }) => text);
  }

  add(text: string): void {
    this.count += 1;
    if (this.kept.length === KEPT) return;
    this.#announce(text);
    this.kept.push({ atMs: this.#timeLine.nowMs, text, before: this.#timeLine.tail(CONTEXT) });
  }
}
