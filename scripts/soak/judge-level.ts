/** Whether a row of sizes is level once the host is warm. Medians, because a single sample says little. */

const MOST_GROWTH = 1.1;

export interface Level {
  readonly isLevel: boolean;
  /** For people. */
  readonly said: string;
}

/** The last quarter against the third quarter: what fills up to a limit has half of the run for it. */
export function judgeLevel(sizes: readonly number[]): Level {
  const quarter = Math.floor(sizes.length / 4);
  const third = median(sizes.slice(2 * quarter, 3 * quarter));
  const last = median(sizes.slice(3 * quarter));
  if (quarter === 0) return { isLevel: false, said: 'too few samples' };
  const said = `${megabytes(third)} MB in the third quarter, ${megabytes(last)} MB in the last`;
  return { isLevel: last <= third * MOST_GROWTH, said };
}

function median(sizes: readonly number[]): number {
  return sizes.toSorted((one, other) => one - other)[Math.floor(sizes.length / 2)] ?? 0;
}

function megabytes(bytes: number): string {
  return (bytes / 1024 / 1024).toFixed(1);
}
