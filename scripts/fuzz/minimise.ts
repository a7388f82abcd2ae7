/** The same failure with fewer bytes: pieces are left out, large ones first, as long as it still fails. */

export interface Minimising {
  /** Whether the shorter input fails in the same way. */
  fails(input: Buffer): boolean | Promise<boolean>;
  readonly tries: number;
  readonly seconds: number;
}

export async function minimise(input: Buffer, { fails, tries, seconds }: Minimising): Promise<Buffer> {
  const end = performance.now() + seconds * 1000;
  let best = input;
  let left = tries;
  for (let size = Math.ceil(best.length / 2); size >= 1 && left > 0; ) {
    const before = best.length;
    for (let at = 0; at < best.length && left > 0; ) {
      const shorter = Buffer.concat([best.subarray(0, at), best.subarray(at + size)]);
      left = performance.now() < end ? left - 1 : 0;
      if (await fails(shorter)) best = shorter;
      else at += size;
    }
    // Another round of the smallest pieces pays as long as it finds some.
    if (size === 1 && best.length === before) break;
    size = Math.max(1, Math.floor(size / 2));
  }
  return best;
}
