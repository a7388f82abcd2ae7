/** Takes samples of whichever host runs; a new host begins a new life. */
import { setTimeout as pause } from 'node:timers/promises';
import type { Sample } from '../oracle/growth.ts';
import type { TimeLine } from '../time-line.ts';
import { descriptorKinds } from './descriptor-kinds.ts';
import type { HostKeeper } from './host-keeper.ts';
import { openDescriptors, residentBytes } from './process-tree.ts';

const EVERY_MS = 1000;
/** A collection holds the host up, so there are few. */
const LIVE_STRIDE = 5;

/** Answers the samples of the longest life. */
export async function watchGrowth(
  keeper: HostKeeper,
  timeLine: TimeLine,
  isOver: () => boolean,
): Promise<readonly Sample[]> {
  const lives = new Map<number, Sample[]>();
  for (let count = 0; !isOver(); count++) {
    const { host } = keeper;
    if (host !== undefined) {
      const samples = lives.get(host.pid) ?? [];
      lives.set(host.pid, samples);
      // A stopped host answers nothing, and one without descriptors cannot.
      const wantsLive = count % LIVE_STRIDE === 0 && timeLine.active.length === 0;
      const liveBytes = wantsLive ? await host.liveBytes() : undefined;
      const sample = {
        atMs: timeLine.nowMs,
        descriptors: openDescriptors(host.pid),
        residentBytes: residentBytes(host.pid),
        kinds: descriptorKinds(host.pid),
      };
      if (sample.residentBytes > 0) samples.push({ ...sample, ...(liveBytes === undefined ? {} : { liveBytes }) });
    }
    await pause(EVERY_MS);
  }
  return [...lives.values()].toSorted((one, other) => other.length - one.length)[0] ?? [];
}
