/** Works through a list with many items under way at once, giving way to others in between. */
import { slices } from './time-slices.ts';

export interface OverlapOptions<T> {
  work(item: T): Promise<void>;
  /** Resolves when another item may be begun. */
  room(): Promise<void>;
  readonly signal: AbortSignal | undefined;
}

/** Throws the first failure, or the signal's reason, when nothing is under way any more. */
export async function overlap<T>(items: readonly T[], { work, room, signal }: OverlapOptions<T>): Promise<void> {
  const pace = slices(signal);
  const running = new Set<Promise<void>>();
  const failures: unknown[] = [];
  const begin = (item: T) => {
    const one = work(item)
      .catch((thrown: unknown) => void failures.push(thrown))
      .finally(() => running.delete(one));
    running.add(one);
  };
  try {
    for (const item of items) {
      if (failures.length > 0) break;
      begin(item);
      await room();
      if (pace.isDue()) await pace.pause();
    }
  } finally {
    await Promise.all(running);
  }
  if (failures.length > 0) throw failures[0];
}
