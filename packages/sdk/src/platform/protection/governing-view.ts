/**
 * The governing files of a runtime as they are at one moment, by identity.
 *
 * They are looked up anew for every operation. A path is traced again only when something else is at its end.
 */
import { statSync } from 'node:fs';
import { dirname } from 'node:path';
import type { GoverningPlace } from '../../contracts/governing.ts';
import { identityOf } from '../descriptors/root.ts';
import { type TracedPath, tracePath } from '../descriptors/trace-path.ts';
import { errnoCode } from '../errno-error.ts';

export interface StandingPlace extends TracedPath {
  readonly place: GoverningPlace;
}

export interface GoverningView {
  readonly places: readonly StandingPlace[];
  /** Identities of the files and folders themselves. */
  readonly objects: ReadonlySet<string>;
  /** Of the folders and links that lead to them. */
  readonly way: ReadonlySet<string>;
  /** Of those that are folders: nothing below them may be changed. */
  readonly folders: ReadonlySet<string>;
  /** Of those that may not even be read. */
  readonly secrets: ReadonlySet<string>;
}

/** Answers the same view while nothing has changed. */
export function createViewer(places: readonly GoverningPlace[]): () => GoverningView {
  let view = viewOf(places.map(standing));
  return () => {
    const holders = new Map<string, string | undefined>();
    const isSame = view.places.every((known) => isUnchanged(known, holders));
    if (!isSame) view = viewOf(places.map(standing));
    return view;
  };
}

function standing(place: GoverningPlace): StandingPlace {
  return { place, ...tracePath(place.path) };
}

function viewOf(places: readonly StandingPlace[]): GoverningView {
  const existing = places.flatMap(({ place, object }) =>
    object === undefined ? [] : [{ ...place, identity: identityOf(object), isFolder: object.isDirectory() }],
  );
  const identities = (some: typeof existing): ReadonlySet<string> => new Set(some.map(({ identity }) => identity));
  return {
    places,
    objects: identities(existing),
    way: new Set(places.flatMap(({ way }) => way)),
    folders: identities(existing.filter(({ isFolder }) => isFolder)),
    secrets: identities(existing.filter(({ access }) => access === 'none')),
  };
}

/** Where nothing is and was, the folder that would hold it counts; many places share one. */
function isUnchanged(
  { place, object, folder, names }: StandingPlace,
  holders: Map<string, string | undefined>,
): boolean {
  const now = identityAt(place.path);
  if (now !== undefined || object !== undefined) return now === (object === undefined ? undefined : identityOf(object));
  const holder = dirname(place.path);
  if (!holders.has(holder)) holders.set(holder, identityAt(holder));
  return names.length === 1 && holders.get(holder) === folder;
}

/** Of what a path leads to, links followed. */
function identityAt(path: string): string | undefined {
  try {
    const found = statSync(path, { bigint: true, throwIfNoEntry: false });
    return found === undefined ? undefined : identityOf(found);
  } catch (thrown) {
    if (errnoCode(thrown) === undefined) throw thrown;
    return undefined;
  }
}
