/** Chooses faults by chance and lets them happen, two at a time at most, with calm in between. */
import { setTimeout as pause } from 'node:timers/promises';
import * as catalog from './catalog.ts';
import { between, type Fault, type FaultContext } from './fault.ts';

const CALM_EVERY_MS = 40_000;
const CALM_MS = 10_000;

export interface Trouble {
  /** How often each came. */
  readonly counts: ReadonlyMap<string, number>;
  /** Faults that cannot be had here, and why. */
  readonly missing: readonly string[];
  readonly over: Promise<void>;
}

export interface TroubleOptions {
  /** Names; all by default. */
  readonly only: readonly string[] | undefined;
  readonly isOver: () => boolean;
  /** Whether hosts may still be ended. */
  readonly mayKill: () => boolean;
}

export function faultNames(): readonly string[] {
  return Object.values(catalog).map(({ name }) => name);
}

export function makeTrouble(context: FaultContext, { only, isOver, mayKill }: TroubleOptions): Trouble {
  const all = Object.values(catalog).filter(({ name }) => only === undefined || only.includes(name));
  const missing = all.flatMap((fault) => {
    const why = fault.missing?.(context.stage);
    return why === undefined ? [] : [`${fault.name} (${why})`];
  });
  const possible = all.filter((fault) => fault.missing?.(context.stage) === undefined);
  const counts = new Map<string, number>(possible.map(({ name }) => [name, 0]));
  const run = async (faults: readonly Fault[]): Promise<void> => {
    while (!isOver()) {
      await pause(between(context.random, 200, 3500));
      const allowed = faults.filter(({ isDeadly }) => isDeadly !== true || mayKill());
      if (isOver() || allowed.length === 0 || isTimeOfCalm(context)) continue;
      const fault = draw(allowed, context);
      if (await fault.inject(context)) counts.set(fault.name, (counts.get(fault.name) ?? 0) + 1);
    }
  };
  const scopes = ['host', 'processes'].map((scope) => possible.filter((fault) => fault.scope === scope));
  return { counts, missing, over: Promise.all(scopes.map(run)).then(() => {}) };
}

/** Now and then nothing happens for so long that every failure would be one without an excuse. */
function isTimeOfCalm({ timeLine }: FaultContext): boolean {
  return timeLine.nowMs % CALM_EVERY_MS > CALM_EVERY_MS - CALM_MS;
}

function draw(faults: readonly Fault[], { random }: FaultContext): Fault {
  return random.pick(faults.flatMap((fault) => new Array<Fault>(fault.weight).fill(fault)));
}
