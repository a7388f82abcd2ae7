/** Where most lines of a run stand in a text, for messages only: blanks around lines do not count here. */
import { LineKeys } from './find-lines.ts';
import type { HunkSide } from './hunk-side.ts';
import type { TextLines } from './line-table.ts';
import { loosely } from './same-line.ts';

export interface NearestPlace {
  /** Index of the line the run would begin at. */
  readonly index: number;
  readonly matching: number;
}

/** A run and a text of nothing but equal lines would take lines times lines; after so many votes the best so far stands. */
const MAX_VOTES = 1_000_000;

const MAX_POSITIONS = 64;

/** Each line that occurs in both votes for the place it speaks for; among equals the one closest to `around` wins. */
export function findNearest(text: TextLines, side: HunkSide, around: number): NearestPlace | undefined {
  const keys = new LineKeys(side, loosely);
  const positions = positionsById(side, keys);
  const votes = new Map<number, number>();
  let cast = 0;
  for (let index = 0; text.has(index) && cast < MAX_VOTES; index++) {
    for (const position of positions.get(keys.idOf(text, index)) ?? []) {
      const place = index - position;
      if (place >= 0) votes.set(place, (votes.get(place) ?? 0) + 1);
      cast += 1;
    }
  }
  let best: NearestPlace | undefined;
  for (const [index, matching] of votes) {
    const isCloser = best === undefined || Math.abs(index - around) < Math.abs(best.index - around);
    if (matching > (best?.matching ?? 0) || (matching === best?.matching && isCloser)) best = { index, matching };
  }
  return best;
}

/** Empty lines speak for no place. */
function positionsById(side: HunkSide, keys: LineKeys): Map<number, number[]> {
  const positions = new Map<number, number[]>();
  for (let index = 0; index < side.length; index++) {
    if (loosely.keyEnd(side, index) === loosely.keyStart(side, index)) continue;
    const id = keys.idOf(side, index);
    const known = positions.get(id);
    if (known === undefined) positions.set(id, [index]);
    else if (known.length < MAX_POSITIONS) known.push(index);
  }
  return positions;
}
