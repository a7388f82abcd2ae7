/** Memory of the host over a run, as it says itself. Flat means that it ends as it was after the first third. */
import type { ServeProcess } from './serve-process.ts';

const EVERY_MS = 250;

export interface MemoryReport {
  readonly startBytes: number;
  readonly thirdBytes: number;
  readonly middleBytes: number;
  readonly endBytes: number;
  readonly highestBytes: number;
  /** End divided by the first third. */
  readonly growth: number;
}

export interface MemoryWatch {
  stop(): Promise<MemoryReport>;
}

export function watchMemory(serve: ServeProcess): MemoryWatch {
  const samples: number[] = [];
  let isStopped = false;
  const sampled = (async () => {
    while (!isStopped) {
      samples.push((await serve.status()).memory_bytes);
      await new Promise((resolve) => setTimeout(resolve, EVERY_MS));
    }
  })();
  return {
    async stop() {
      isStopped = true;
      await sampled;
      return report(samples);
    },
  };
}

function report(samples: readonly number[]): MemoryReport {
  // The median of a few neighbours: a collection that is due makes a single sample say little.
  const around = (share: number): number => {
    const center = Math.round(share * (samples.length - 1));
    const near = samples.slice(Math.max(0, center - 4), center + 5).toSorted((one, other) => one - other);
    return near[Math.floor(near.length / 2)] ?? 0;
  };
  const thirdBytes = around(1 / 3);
  const endBytes = around(1);
  return {
    startBytes: samples[0] ?? 0,
    thirdBytes,
    middleBytes: around(1 / 2),
    endBytes,
    highestBytes: Math.max(...samples),
    growth: endBytes / thirdBytes,
  };
}
