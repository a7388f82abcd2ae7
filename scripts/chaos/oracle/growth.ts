/** Memory and descriptors of the host over its life: a line through the last half must not rise. */
import type { Problems } from '../../../packages/host/test/load/problems.ts';

export interface Sample {
  readonly atMs: number;
  readonly descriptors: number;
  readonly residentBytes: number;
  /** After a collection; not in every sample. */
  readonly liveBytes?: number;
  /** What the descriptors lead to, for evidence. */
  readonly kinds?: readonly string[];
}

export interface Growth {
  readonly name: string;
  readonly from: number;
  readonly to: number;
  /** Over the last half of the life. */
  readonly rise: number;
}

/** A life that is shorter says nothing about growth: caches and pools still fill. */
const MIN_LIFE_MS = 40_000;
const MIN_SAMPLES = 5;

interface Limit {
  readonly name: string;
  readonly of: (sample: Sample) => number | undefined;
  /** What may be added to the value in the middle. */
  readonly mayRise: (middle: number) => number;
}

const LIMITS: readonly Limit[] = [
  { name: 'descriptors', of: ({ descriptors }) => descriptors, mayRise: () => 80 },
  { name: 'live bytes', of: ({ liveBytes }) => liveBytes, mayRise: (middle) => Math.max(24e6, middle * 0.4) },
  {
    name: 'resident bytes',
    of: ({ residentBytes }) => residentBytes,
    mayRise: (middle) => Math.max(128e6, middle * 0.6),
  },
];

export function judgeGrowth(samples: readonly Sample[], problems: Problems): readonly Growth[] {
  const first = samples[0]?.atMs ?? 0;
  const last = samples.at(-1)?.atMs ?? 0;
  if (last - first < MIN_LIFE_MS) return [];
  const lastHalf = samples.filter(({ atMs }) => atMs >= (first + last) / 2);
  return LIMITS.flatMap(({ name, of, mayRise }) => {
    const points = lastHalf.flatMap((sample) => {
      const value = of(sample);
      return value === undefined ? [] : [{ atMs: sample.atMs, value }];
    });
    if (points.length < MIN_SAMPLES) return [];
    const values = points.map(({ value }) => value);
    const rise = slopeOf(points) * (last - (points[0]?.atMs ?? 0));
    const growth = { name, from: values[0] ?? 0, to: values.at(-1) ?? 0, rise };
    const limit = mayRise(median(values));
    if (rise > limit) {
      const kinds = [lastHalf[0], lastHalf.at(-1)].map((sample) => sample?.kinds?.join(', '));
      const figures = `${Math.round(rise)}, more than ${Math.round(limit)}: ${values}`;
      problems.add(`${name} of the host rise by ${figures}; descriptors at first: ${kinds.join('; at last: ')}`);
    }
    return [growth];
  });
}

/** The median of the slopes between all pairs: single peaks do not move it. */
function slopeOf(points: readonly { readonly atMs: number; readonly value: number }[]): number {
  const slopes = points.flatMap((one, at) =>
    points.slice(at + 1).map((other) => (other.value - one.value) / Math.max(1, other.atMs - one.atMs)),
  );
  return median(slopes);
}

function median(values: readonly number[]): number {
  const sorted = values.toSorted((one, other) => one - other);
  return sorted[Math.floor(sorted.length / 2)] ?? 0;
}
