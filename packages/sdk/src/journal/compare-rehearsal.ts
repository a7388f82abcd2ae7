/** What the world says about a lost call, held against what was noted before it ran. Reads and decides, nothing else. */
import type { JsonObject, JsonValue } from '@tool-runtime/protocol';
import type { ExpectedChange, Reading, Rehearsal, SubjectReader } from '../contracts/rehearsal.ts';

export type Comparison =
  /** Everything is as intended. */
  | { readonly verdict: 'happened'; readonly answer: JsonObject }
  /** Everything is as it was before, untouched. */
  | { readonly verdict: 'not_happened' }
  | { readonly verdict: 'unclear'; readonly why: string };

/** A write of what was there already counts as happened: its intended state is present. */
export async function compareRehearsal(rehearsal: Rehearsal | undefined, reader: SubjectReader): Promise<Comparison> {
  if (rehearsal === undefined || rehearsal.changes.length === 0) return unclear('its effect cannot be compared');
  const { root, changes, answer } = rehearsal;
  if (root !== reader.root) return unclear('it was made in another workspace folder');
  const readings = await Promise.all(changes.map(async ({ subject }) => reader.read(subject)));
  const missing = changes.find((_, at) => readings[at] === undefined);
  if (missing !== undefined) return unclear(`it cannot be read now: ${missing.subject}`);
  const known = readings as readonly Reading[];
  if (changes.every((change, at) => change.after === known[at]?.content)) {
    return { verdict: 'happened', answer: completed(answer, known) };
  }
  if (changes.every((change, at) => change.before === known[at]?.exact)) return { verdict: 'not_happened' };
  return unclear(`it is neither as before nor as intended: ${firstOdd(changes, known)}`);
}

function unclear(why: string): Comparison {
  return { verdict: 'unclear', why };
}

/** Adds what only a look afterwards could tell. */
function completed(answer: JsonObject, readings: readonly Reading[]): JsonObject {
  const found = readings.flatMap((reading) => (reading.found === undefined ? [] : [reading.found]));
  if (found.length === 0) return answer;
  const known = (answer['data'] ?? {}) as Record<string, JsonValue>;
  return { ...answer, data: Object.assign({}, known, ...found) as JsonObject };
}

/** The subject to look at first: one that fits neither state, or else, of a half-made change, one that is not as intended. */
function firstOdd(changes: readonly ExpectedChange[], readings: readonly Reading[]): string {
  const isIntended = ({ after }: ExpectedChange, at: number) => after === readings[at]?.content;
  const isBefore = ({ before }: ExpectedChange, at: number) => before === readings[at]?.exact;
  const odd = changes.find((change, at) => !isIntended(change, at) && !isBefore(change, at));
  return (odd ?? changes.find((change, at) => !isIntended(change, at)))?.subject ?? '';
}
