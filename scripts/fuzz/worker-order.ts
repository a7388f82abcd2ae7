/** What a run asks of its worker, and what the worker says. */
import type { FuzzFinding } from './finding.ts';

export interface WorkerOrder {
  /** Module that exports FUZZ_TARGETS. */
  readonly catalog: string;
  readonly target: string;
  readonly seedFolder: string;
  readonly seed: number;
  /** The run ends with whichever comes first. */
  readonly cases: number;
  readonly seconds: number;
  /** Whether times are looked at. Not in tests: they must say the same on every machine. */
  readonly judgesTime: boolean;
  readonly memory: SharedArrayBuffer;
  /** Inputs that took a worker with them. */
  readonly skipped: readonly Uint8Array[];
  /** One input instead of many. */
  readonly only?: Uint8Array;
}

export interface WorkerReport {
  readonly cases: number;
  /** What became of inputs → how often. */
  readonly outcomes: Readonly<Record<string, number>>;
  readonly slowestMs: number;
  readonly slowest: Uint8Array;
}

export type WorkerWord =
  | { readonly type: 'finding'; readonly finding: FuzzFinding }
  /** Now and then, and last with `isDone`. */
  | { readonly type: 'report'; readonly report: WorkerReport; readonly isDone: boolean };
