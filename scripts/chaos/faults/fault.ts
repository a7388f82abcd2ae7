/** One thing that can go wrong with the world, for a while. */
import type { SeededRandom } from '../../../packages/host/test/load/seeded-random.ts';
import type { HostKeeper } from '../host/host-keeper.ts';
import type { ChaosStage } from '../stage/open-stage.ts';
import type { TimeLine } from '../time-line.ts';
import type { Violations } from '../violations.ts';

export interface FaultContext {
  readonly stage: ChaosStage;
  readonly keeper: HostKeeper;
  readonly random: SeededRandom;
  readonly timeLine: TimeLine;
  readonly violations: Violations;
}

export interface Fault {
  readonly name: string;
  /** Faults of the host come one after the other; those of its processes at the same time as these. */
  readonly scope: 'host' | 'processes';
  /** Whether it ends the host: those come in the first half alone, so that one host lives long enough to show growth. */
  readonly isDeadly?: boolean;
  readonly weight: number;
  /** Why it cannot be had here. */
  missing?(stage: ChaosStage): string | undefined;
  /** Makes it wrong, and right again. Answers whether there was anything to do. */
  inject(context: FaultContext): Promise<boolean>;
}

/** A whole number of milliseconds, both ends included. */
export function between(random: SeededRandom, lowest: number, highest: number): number {
  return lowest + random.below(highest - lowest + 1);
}
