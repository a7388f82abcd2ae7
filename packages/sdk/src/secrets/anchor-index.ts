/**
 * One pass over a text that reports every place where a detector could begin to match.
 *
 * A detector names literals, one of which is in every text it matches. Three neighbouring characters of each literal
 * are kept in a table that is asked at every character, four times as fast as one regular expression of all literals.
 * Case is ignored by setting one bit, and characters lose all but their low byte: that finds places too many, which the
 * detectors turn down, and none too few.
 */

export interface Anchored {
  /** At least three ASCII characters each. */
  readonly anchors: readonly string[];
}

export interface AnchorIndex<T> {
  /** No more hits a character than there are literals that share three characters, whatever the text. */
  visit(text: string, onHit: (detector: T, offset: number) => void): void;
}

interface Literal<T> {
  readonly folded: Uint8Array;
  /** How far behind the start the last of its three characters stands. */
  readonly reach: number;
  readonly detectors: readonly T[];
}

const GRAM = 3;
const CASE_BIT = 0x20;
/** Three shifts by five move a character out of fifteen bits. */
const SHIFT = 5;
const MASK = 0x7fff;
const FREQUENT = 'etaoinsrhlcdu_';

export function createAnchorIndex<T extends Anchored>(detectors: readonly T[]): AnchorIndex<T> {
  const literals = literalsOf(detectors);
  const byHash = Map.groupBy(literals, ({ folded, reach }) => hashOf(folded, reach));
  const buckets: readonly (readonly Literal<T>[])[] = [[], ...byHash.values()];
  const table = new Uint16Array(MASK + 1);
  for (const [at, hash] of [...byHash.keys()].entries()) table[hash] = at + 1;

  function visit(text: string, onHit: (detector: T, offset: number) => void): void {
    const bytes = Buffer.from(text, 'latin1');
    for (let at = nextPlace(table, bytes, 0); at !== -1; at = nextPlace(table, bytes, at + 1)) {
      for (const literal of buckets[table[hashOf(bytes, at)] ?? 0] ?? []) {
        const offset = at - literal.reach;
        if (!standsAt(literal.folded, bytes, offset)) continue;
        for (const detector of literal.detectors) onHit(detector, offset);
      }
    }
  }

  return { visit };
}

function literalsOf<T extends Anchored>(detectors: readonly T[]): readonly Literal<T>[] {
  const texts = new Set(detectors.flatMap((detector) => detector.anchors));
  return Array.from(texts, (text) => ({
    folded: Uint8Array.from(Buffer.from(text, 'latin1'), (byte) => byte | CASE_BIT),
    reach: rarestGram(text) + GRAM - 1,
    detectors: detectors.filter((detector) => detector.anchors.includes(text)),
  }));
}

/** Where the three characters begin that ordinary text has least of. */
function rarestGram(text: string): number {
  if (text.length < GRAM) throw new TypeError(`Anchor too short: ${text}`);
  let [best, fewest] = [0, GRAM + 1];
  for (let start = 0; start + GRAM <= text.length; start++) {
    const frequent = [...text.slice(start, start + GRAM)].filter((letter) => FREQUENT.includes(letter)).length;
    if (frequent < fewest) [best, fewest] = [start, frequent];
  }
  return best;
}

/** Of the three bytes that end here. */
function hashOf(bytes: Uint8Array, end: number): number {
  let hash = 0;
  for (let at = Math.max(0, end - GRAM + 1); at <= end; at++) {
    hash = ((hash << SHIFT) ^ ((bytes[at] ?? 0) | CASE_BIT)) & MASK;
  }
  return hash;
}

/** The whole price of ordinary text, and three times lower in a function of its own. */
function nextPlace(table: Uint16Array, bytes: Uint8Array, from: number): number {
  let hash = from === 0 ? 0 : hashOf(bytes, from - 1);
  for (let at = from; at < bytes.length; at++) {
    hash = ((hash << SHIFT) ^ ((bytes[at] as number) | CASE_BIT)) & MASK;
    if (table[hash] !== 0) return at;
  }
  return -1;
}

function standsAt(folded: Uint8Array, bytes: Uint8Array, offset: number): boolean {
  if (offset < 0) return false;
  for (let at = 0; at < folded.length; at++) {
    if (((bytes[offset + at] ?? 0) | CASE_BIT) !== folded[at]) return false;
  }
  return true;
}
