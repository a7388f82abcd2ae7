/**
 * What the steps of a narrowing share: both registries, where overreach is reported, and the lines of the list entries
 * that survive. Indices of a narrowed list are new, so the entries' lines are recorded while the list is made.
 */
import type { Registry, RegistrySpot } from '../contracts/registry.ts';

export interface Overreach {
  /** Path in the session's registry. */
  readonly path: string;
  readonly message: string;
}

export interface Narrowing {
  readonly host: Registry;
  readonly session: Registry;
  readonly overreach: Overreach[];
  /** What was settled without widening anything and is still worth saying. */
  readonly notes: Overreach[];
  /** Path in the narrowed registry → where its entry was written. */
  readonly spots: Map<string, RegistrySpot>;
}

const LISTS = [
  'validators',
  'shell_allow',
  'network.allowed_domains',
  'external_tools',
  'coordinator.required',
] as const;
type NarrowedList = (typeof LISTS)[number];

function parentOf(path: string): string {
  return path.slice(0, Math.max(0, path.lastIndexOf('.')));
}

/** Whether the path itself is written, not only a parent: a child never stands where its parent does. */
export function isWritten(registry: Registry, path: string): boolean {
  const spot = registry.spot(path);
  if (spot === undefined) return false;
  const parent = registry.spot(parentOf(path));
  return parent === undefined || parent.line !== spot.line || parent.column !== spot.column;
}

/** Records where an entry of a narrowed list comes from, by index and by name. */
export function placeEntry(
  narrowing: Narrowing,
  list: NarrowedList,
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

export function createNarrowedSpot(narrowing: Narrowing): Registry['spot'] {
  return (path) => {
    const list = LISTS.find((name) => path.startsWith(`${name}.`));
    if (list === undefined) return nearestOfBoth(narrowing, path);
    for (let at = path; at.length > list.length; at = parentOf(at)) {
      const spot = narrowing.spots.get(at);
      if (spot !== undefined) return spot;
    }
    return nearestOfBoth(narrowing, list);
  };
}
