/**
 * Times cases against each other so that only their ratio matters.
 *
 * All cases take turns in every round and another one begins each time, so a busy neighbour slows all of them down, not
 * one. A sample is many calls, enough that the clock's own noise is small. The figure of a case is the median over
 * rounds of its median in the round; a ratio is taken inside each round first, because there both met the same machine.
 */
import { quietMachine } from './quiet-machine.ts';

export interface Case {
  readonly name: string;
  /** A sample holds a multiple of this; the number in flight for concurrent cases. */
  readonly unit?: number;
  /** Makes `calls` calls and ends when all have. */
  run(calls: number): Promise<void> | void;
}

export interface Plan {
  readonly rounds: number;
  readonly samplesPerRound: number;
  /** A sample grows until it takes this long. */
  readonly sampleMs: number;
  /** Longest warm-up of one case. It ends before when the case takes no less time than before. */
  readonly warmUpMs: number;
  /** Longest wait for a quiet machine before each round. */
  readonly quietMs: number;
  /** No further round begins after so long, once there are enough to judge by. */
  readonly longestMs?: number;
}

/** With fewer rounds no spread is told. */
export const MIN_ROUNDS = 4;

export interface Measured {
  readonly name: string;
  readonly medianMicros: number;
  /** Of samples, not of calls. */
  readonly p99Micros: number;
  readonly samples: number;
  readonly callsPerSample: number;
  readonly roundMicros: readonly number[];
}

export interface Comparison {
  readonly cases: ReadonlyMap<string, Measured>;
  readonly rounds: number;
  /** Rounds that began while the rest of the machine was idle. */
  readonly quietRounds: number;
}

interface Series {
  readonly subject: Case;
  readonly calls: number;
  readonly rounds: number[][];
}

export async function compare(cases: readonly Case[], plan: Plan): Promise<Comparison> {
  const all: Series[] = [];
  for (const subject of cases) all.push({ subject, calls: await warmUp(subject, plan), rounds: [] });
  // What the warm-up left must not count. Not before every turn: after a forced collection the heap's pages are
  // new to the process, and the case that allocates most would pay for touching them. Absent without --expose-gc.
  globalThis.gc?.();
  let quietRounds = 0;
  const until = performance.now() + (plan.longestMs ?? Number.POSITIVE_INFINITY);
  let round = 0;
  for (; round < plan.rounds && (round < MIN_ROUNDS || performance.now() < until); round++) {
    if (await quietMachine(plan.quietMs)) quietRounds += 1;
    for (let turn = 0; turn < all.length; turn++) {
      const series = all[(round + turn) % all.length];
      if (series !== undefined) series.rounds.push(await takeSamples(series, plan.samplesPerRound));
    }
  }
  const measured = new Map(all.map((series) => [series.subject.name, summarize(series)]));
  return { cases: measured, rounds: round, quietRounds };
}

/** Time of `name` divided by time of `peer`: below 1 is faster. */
export function ratioOf(comparison: Comparison, name: string, peer: string): number {
  return timesAs(comparison, name, peer).measured;
}

/** A figure and what it was in each round, so that a budget can tell a miss from noise. */
export interface Estimate {
  readonly measured: number;
  readonly rounds: readonly number[];
}

/** Time of `name` divided by time of `peer`. */
export function timesAs(comparison: Comparison, name: string, peer: string): Estimate {
  return perRound(comparison, (micros) => micros(name) / micros(peer));
}

/** How many times as fast as `peer`. */
export function timesFaster(comparison: Comparison, name: string, peer: string): Estimate {
  return perRound(comparison, (micros) => micros(peer) / micros(name));
}

/** Microseconds that `name` takes more than `peer`. */
export function moreThan(comparison: Comparison, name: string, peer: string): Estimate {
  return perRound(comparison, (micros) => micros(name) - micros(peer));
}

/** Microseconds of `name`. */
export function microsOf(comparison: Comparison, name: string): Estimate {
  return perRound(comparison, (micros) => micros(name));
}

/** A figure of several cases, taken in every round. `micros`: of a case in that round. */
export function perRound(
  { cases, rounds }: Comparison,
  figure: (micros: (name: string) => number) => number,
): Estimate {
  const figures = Array.from({ length: rounds }, (_, round) =>
    figure((name) => measuredOf(cases, name).roundMicros[round] ?? Number.NaN),
  );
  return estimateOf(figures);
}

export function estimateOf(rounds: readonly number[]): Estimate {
  return { measured: quantile(rounds, 0.5), rounds };
}

export function measuredOf(cases: ReadonlyMap<string, Measured>, name: string): Measured {
  const found = cases.get(name);
  if (found === undefined) throw new TypeError(`No such case: ${name}`);
  return found;
}

/** One call after the other. */
export function inSequence(call: () => Promise<unknown>): Case['run'] {
  return async (calls) => {
    for (let made = 0; made < calls; made++) await call();
  };
}

/** As many in flight as `width` all the time: each lane calls again as soon as it is answered. */
export function inFlight(width: number, call: () => Promise<unknown>): Case['run'] {
  return async (calls) => {
    const lane = inSequence(call);
    await Promise.all(Array.from({ length: width }, () => lane(calls / width)));
  };
}

/** A stretch of the warm-up, long enough to compare it with the one before. */
const STRETCHES = 10;
const NO_FASTER = 0.95;

/** Runs until code is compiled and caches are warm; answers how many calls fill a sample. */
async function warmUp({ unit = 1, run }: Case, { sampleMs, warmUpMs }: Plan): Promise<number> {
  let calls = unit;
  let last = Number.POSITIVE_INFINITY;
  let stretch = { made: 0, tookMs: 0 };
  const begun = performance.now();
  for (;;) {
    const started = performance.now();
    await run(calls);
    const tookMs = performance.now() - started;
    // Early turns are slow and make the sample look long enough; once warm it may have to grow further.
    if (tookMs < sampleMs) calls *= 2;
    else if (performance.now() - begun >= warmUpMs) return calls;
    stretch = { made: stretch.made + calls, tookMs: stretch.tookMs + tookMs };
    if (stretch.tookMs < warmUpMs / STRETCHES) continue;
    const perCall = stretch.tookMs / stretch.made;
    if (tookMs >= sampleMs && perCall > last * NO_FASTER) return calls;
    last = perCall;
    stretch = { made: 0, tookMs: 0 };
  }
}

async function takeSamples({ subject, calls }: Series, count: number): Promise<number[]> {
  const micros: number[] = [];
  for (let sample = 0; sample < count; sample++) {
    const started = performance.now();
    await subject.run(calls);
    micros.push(((performance.now() - started) * 1000) / calls);
  }
  return micros;
}

function summarize({ subject, calls, rounds }: Series): Measured {
  const roundMicros = rounds.map((micros) => quantile(micros, 0.5));
  const samples = rounds.flat();
  return {
    name: subject.name,
    medianMicros: quantile(roundMicros, 0.5),
    p99Micros: quantile(samples, 0.99),
    samples: samples.length,
    callsPerSample: calls,
    roundMicros,
  };
}

export function quantile(values: readonly number[], share: number): number {
  const sorted = values.toSorted((one, other) => one - other);
  const at = share * (sorted.length - 1);
  const low = sorted[Math.floor(at)] ?? Number.NaN;
  const high = sorted[Math.ceil(at)] ?? Number.NaN;
  return low + (high - low) * (at - Math.floor(at));
}
