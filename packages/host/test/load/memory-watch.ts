/** Memory of the host over a run: how large it says it is, and what it really holds on to. */
import type { ServeProcess } from './serve-process.ts';

const EVERY_MS = 250;

export interface MemoryReport {
  readonly startBytes: number;
  readonly thirdBytes: number;
  readonly middleBytes: number;
  readonly endBytes: number;
  readonly highestBytes: number;
  /** What was left after a collection, a third into the run and at its end. */
  readonly liveThirdBytes: number;
  readonly liveEndBytes: number;
}

export interface MemoryWatch {
  stop(): Promise<MemoryReport>;
}

export function watchMemory(serve: ServeProcess, seconds: number): MemoryWatch {
  const samples: number[] = [];
  const thirdAt = performance.now() + (seconds * 1000) / 3;
  let liveThirdBytes = 0;
  let isStopped = false;
  const sampled = (async () => {
    while (!isStopped) {
      samples.push((await serve.status()).memory_bytes);
      if (liveThirdBytes === 0 && performance.now() >= thirdAt) liveThirdBytes = await serve.liveBytes();
      await new Promise((resolve) => setTimeout(resolve, EVERY_MS));
    }
  })();
  return {
    async stop() {
      isStopped = true;
      await sampled;
      return { ...sizes(samples), liveThirdBytes, liveEndBytes: await serve.liveBytes() };
    },
  };
}

function sizes(samples: readonly number[]) {
  // The median of a few neighbours: a collection that is due makes a single sample say little.
  const around = (share: number): number => {
    const center = Math.round(share * (samples.length - 1));
    const near = samples.slice(Math.max(0, center - 4), center + 5).toSorted((one, other) => one - other);
    return near[Math.floor(near.length / 2)] ?? 0;
  };
  return {
    startBytes: samples[0] ?? 0,
    thirdBytes: around(1 / 3),
    middleBytes: around(1 / 2),
    endBytes: around(1),
    highestBytes: Math.max(...samples),
  };
}
