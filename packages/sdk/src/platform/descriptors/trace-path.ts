/**
 * The way to a file, name by name: every folder and link on it by identity, and what is at its end.
 *
 * Moving or replacing one of them changes what the path means as much as changing the file does.
 */
import { type BigIntStats, existsSync, lstatSync, readlinkSync, realpathSync } from 'node:fs';
import { basename, dirname, join } from 'node:path';
import { errnoCode } from '../errno-error.ts';
import { identityOf } from './root.ts';

export interface TracedPath {
  /** `device:inode` of the folders and links that lead to it. */
  readonly way: readonly string[];
  /** Links among them, by their own path. */
  readonly links: readonly string[];
  /** Identity of the last folder that exists; undefined when it cannot be looked at. */
  readonly folder: string | undefined;
  /** Names from there on: more than one when folders are missing. */
  readonly names: readonly string[];
  /** Undefined when nothing is there. */
  readonly object: BigIntStats | undefined;
  /** Without links, as far as it exists. */
  readonly path: string;
}

const MAX_LINKS = 40;

/** `path` is absolute. */
export function tracePath(path: string): TracedPath {
  const way: string[] = [];
  const links: string[] = [];
  const pending = namesIn(path);
  let folder = '/';
  for (let name = pending.shift(); name !== undefined; name = pending.shift()) {
    if (name === '..') {
      folder = dirname(folder);
      continue;
    }
    const entry = join(folder, name);
    const stat = lookAt(entry);
    if (stat?.isSymbolicLink() && links.length < MAX_LINKS) {
      way.push(identityOf(stat));
      links.push(entry);
      const text = readlinkSync(entry);
      if (text.startsWith('/')) folder = '/';
      pending.unshift(...namesIn(text));
    } else if (stat?.isDirectory() && pending.length > 0) {
      way.push(identityOf(stat));
      folder = entry;
    } else {
      return { way, links, ...endAt(folder, [name, ...pending], pending.length === 0 ? stat : undefined) };
    }
  }
  return { way, links, ...endAt(dirname(folder), [basename(folder)], lookAt(folder)) };
}

function endAt(
  folder: string,
  names: readonly string[],
  object: BigIntStats | undefined,
): Omit<TracedPath, 'way' | 'links'> {
  const holder = lookAt(folder);
  return {
    folder: holder === undefined ? undefined : identityOf(holder),
    names,
    object,
    path: join(folder, ...names),
  };
}

function namesIn(path: string): string[] {
  return path.split('/').filter((name) => name !== '' && name !== '.');
}

/** Undefined also where we may not look. */
function lookAt(path: string): BigIntStats | undefined {
  try {
    return lstatSync(path, { bigint: true, throwIfNoEntry: false });
  } catch (thrown) {
    if (errnoCode(thrown) === undefined) throw thrown;
    return undefined;
  }
}

/** A path with its links resolved, as processes see it. */
export function realPath(path: string): string {
  return realpathSync.native(path);
}

/** The path as it is where nothing exists; reading it then fails with a message of its own. */
export function realPathIfAny(path: string): string {
  return existsSync(path) ? realPath(path) : path;
}
