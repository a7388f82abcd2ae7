/**
 * What the sections share when they narrow: both registries, a list for overreach, and the lines of the list entries that
 * remain. Indices of a narrowed list are new, so the line of each entry is recorded while the list is made.
 */
import type { JsonValue } from '@tool-runtime/protocol';
import type { CompiledPattern, Registry, RegistrySpot } from '../contracts/registry.ts';
import { canonicalJson } from '../platform/digest.ts';

export interface Overreach {
  /** Path in the session's registry. */
  readonly path: string;
  readonly message: string;
}

export interface Narrowing {
  readonly host: Registry;
  readonly session: Registry;
  readonly overreach: Overreach[];
  /** What was settled without widening anything but should be reported. */
  readonly notes: Overreach[];
  /** Path in the narrowed registry → where its entry was written. */
  readonly spots: Map<string, RegistrySpot>;
  /** Tool name → its own time limit. */
  readonly toolTimeouts: ReadonlyMap<string, number>;
}

function parentOf(path: string): string {
  return path.slice(0, Math.max(0, path.lastIndexOf('.')));
}

/** Whether the path itself is written, not only a parent: a child never begins where its parent does. */
export function isWritten(registry: Registry, path: string): boolean {
  const spot = registry.spot(path);
  if (spot === undefined) return false;
  const parent = registry.spot(parentOf(path));
  return parent === undefined || parent.line !== spot.line || parent.column !== spot.column;
}

/** Records where an entry of a narrowed list comes from, by index and by name. The section names the list in `lists`. */
export function placeEntry(
  narrowing: Narrowing,
  list: string,
  entry: { readonly index: number; readonly name: string; readonly spot: RegistrySpot | undefined },
): void {
  if (entry.spot === undefined) return;
  narrowing.spots.set(`${list}.${entry.index}`, entry.spot);
  narrowing.spots.set(`${list}.${entry.name}`, entry.spot);
}

/** Deepest written path wins; where both registries wrote it, the session's. */
function nearestOfBoth(narrowing: Narrowing, path: string): RegistrySpot | undefined {
  for (let at = path; at !== ''; at = parentOf(at)) {
    for (const registry of [narrowing.session, narrowing.host]) if (isWritten(registry, at)) return registry.spot(at);
  }
  return undefined;
}

/** `lists`: paths of the lists whose entries were recorded with `placeEntry`. */
export function createNarrowedSpot(narrowing: Narrowing, lists: readonly string[]): Registry['spot'] {
  return (path) => {
    const list = lists.find((name) => path.startsWith(`${name}.`));
    if (list === undefined) return nearestOfBoth(narrowing, path);
    for (let at = path; at.length > list.length; at = parentOf(at)) {
      const spot = narrowing.spots.get(at);
      if (spot !== undefined) return spot;
    }
    return nearestOfBoth(narrowing, list);
  };
}

interface Figure {
  readonly path: string;
  readonly own: number | undefined;
  /** The host's figure, or the default where the host sets none. */
  readonly limit: number | undefined;
}

/** True when the session's figure may be used. */
export function isWithin({ session, overreach }: Narrowing, { path, own, limit }: Figure): boolean {
  if (own === undefined) return false;
  if (limit !== undefined && own <= limit) return true;
  if (!isWritten(session, path)) return false;
  const allowed = limit === undefined ? 'it sets none to compare with' : `at most ${limit}`;
  overreach.push({ path, message: `Limit is above the host's: ${path} (${allowed})` });
  return false;
}

export function bothMatch(pattern: CompiledPattern, others: readonly CompiledPattern[]): CompiledPattern {
  return Object.freeze({
    source: pattern.source,
    test: (text: string) => pattern.test(text) && others.some((other) => other.test(text)),
  });
}

export function sameJson(left: unknown, right: unknown): boolean {
  return right !== undefined && canonicalJson(left as JsonValue) === canonicalJson(right as JsonValue);
}
