/** Random numbers that are the same everywhere for one seed. */

/** From 0 up to but not including 1. */
export type Random = () => number;

/** mulberry32: small and fast. */
export function createRandom(seed: number): Random {
  let state = seed >>> 0;
  return () => {
    state = (state + 0x6d2b79f5) >>> 0;
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state);
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed;
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32;
  };
}

/** A whole number from 0 up to but not including `limit`. */
export function below(random: Random, limit: number): number {
  return Math.floor(random() * limit);
}

export function pick<Item>(random: Random, list: readonly Item[]): Item {
  return list[below(random, list.length)] as Item;
}
