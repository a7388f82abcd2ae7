/** Where an artifactLocation points: its address, the bases it builds on, and the list of artifacts it may refer to. */
import { posix } from 'node:path';
import { at, filledText, wholeNumber } from '../../loose-json.ts';
import { percentDecoded, plainPath } from '../../workspace-path.ts';
import type { Dialect } from './dialect.ts';

/** Bases may build on each other; a chain that is longer than this is a circle. */
const MAX_BASES = 16;
/** Anything else in an address shows that it was not encoded. */
const ENCODED = /^[\w\-.~:/?#[\]@!$&'()*+,;=%]*$/;

/** A path, absolute or from the folder the analyzer ran in; undefined if it is missing or not a file. */
export function artifactPath(location: unknown, run: unknown, dialect: Dialect): string | undefined {
  const index = wholeNumber(at(location, 'index'));
  const listed = index === undefined ? undefined : at(run, 'artifacts', index, 'location');
  const named = filledText(at(location, 'uri')) === undefined ? listed : location;
  return resolve(named, { run, dialect, basesLeft: MAX_BASES });
}

interface Search {
  readonly run: unknown;
  readonly dialect: Dialect;
  readonly basesLeft: number;
}

function resolve(location: unknown, search: Search): string | undefined {
  const address = filledText(at(location, 'uri'));
  const path = address === undefined ? undefined : pathOf(address, search.dialect);
  if (path === undefined || path.startsWith('/')) return path;
  const base = baseOf(location, search);
  return base === undefined ? path : posix.join(base, path);
}

/** Undefined also for a base without an address: by convention that is the folder that was analyzed. */
function baseOf(location: unknown, { basesLeft, ...search }: Search): string | undefined {
  const id = filledText(at(location, 'uriBaseId'));
  if (id === undefined || basesLeft === 0) return undefined;
  return resolve(at(search.run, 'originalUriBaseIds', id), { ...search, basesLeft: basesLeft - 1 });
}

function pathOf(address: string, { hasPlainPaths }: Dialect): string | undefined {
  if (hasPlainPaths && !/^file:/i.test(address)) return address;
  const path = plainPath(address);
  return path === address && ENCODED.test(address) ? percentDecoded(address) : path;
}
