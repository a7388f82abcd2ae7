/**
 * Whether the work grows much faster than its input. This looks for hangs in the making, it is no benchmark: a piece of
 * the input is repeated until it is long and ten times as long, and only a long time that is far out of proportion counts.
 */
import { below, type Random } from './seeded-random.ts';

const FACTOR = 10;
/** Ten times the input may take forty times as long: machines are busy and memory has steps. */
const ALLOWED = 40;
const NOTICEABLE_MS = 200;
const PIECE_BYTES = 48;
const ROUNDS = 3;

export interface Growth {
  readonly input: Buffer;
  readonly shortMs: number;
  readonly longMs: number;
}

export interface GrowthTrial {
  readonly input: Buffer;
  readonly random: Random;
  readonly maxBytes: number;
  measure(input: Buffer): void;
  /** Milliseconds this thread worked so far, which is not what it waited for others. */
  clock?(): number;
}

/** Undefined when all is well. */
export function judgeGrowth(trial: GrowthTrial): Growth | undefined {
  const { input, random, maxBytes, measure, clock = threadClock } = trial;
  if (input.length === 0) return undefined;
  const timeOf = (bytes: Buffer): number => {
    const start = clock();
    measure(bytes);
    return clock() - start;
  };
  const best = (bytes: Buffer): number => Math.min(...Array.from({ length: ROUNDS }, () => timeOf(bytes)));
  const start = below(random, input.length);
  const end = Math.min(input.length, start + 1 + below(random, PIECE_BYTES));
  const long = pumped(input, [start, end], maxBytes);
  const first = timeOf(long);
  if (first < NOTICEABLE_MS) return undefined;
  const short = pumped(input, [start, end], Math.max(input.length, Math.floor(maxBytes / FACTOR)));
  const [shortMs, longMs] = [best(short), Math.min(first, best(long))];
  if (longMs < NOTICEABLE_MS || longMs <= ALLOWED * Math.max(shortMs, 0.1)) return undefined;
  return { input: long, shortMs, longMs };
}

/** Repeats the piece in its place until the whole has this length. */
function pumped(input: Buffer, [start, end]: readonly [number, number], bytes: number): Buffer {
  const piece = input.subarray(start, end);
  const times = Math.max(1, Math.floor((bytes - input.length) / piece.length));
  const parts = [input.subarray(0, start), ...Array.from({ length: times }, () => piece), input.subarray(start)];
  return Buffer.concat(parts).subarray(0, bytes);
}

function threadClock(): number {
  const { user, system } = process.threadCpuUsage();
  return (user + system) / 1000;
}
