/** Finds the toolchains of the operator: by their variables, else where they install themselves. Starts nothing. */
import { existsSync, opendirSync, readFileSync, realpathSync } from 'node:fs';
import { homedir } from 'node:os';
import { isAbsolute, join } from 'node:path';
import { errnoCode } from '../errno-error.ts';
import { KNOWN_TOOLCHAINS, type KnownToolchain } from './known-toolchains.ts';

const MAX_NAMES = 2000;

export interface Toolchain {
  readonly name: string;
  /** Existing files and folders it needs, absolute. */
  readonly show: readonly string[];
  /** Its folders of programs. */
  readonly path: readonly string[];
  readonly env: Readonly<Record<string, string>>;
}

export interface DetectOptions {
  readonly env?: Readonly<Record<string, string | undefined>>;
  readonly home?: string;
}

export function detectToolchains({ env = process.env, home = homedir() }: DetectOptions = {}): readonly Toolchain[] {
  return KNOWN_TOOLCHAINS.flatMap((known) => findToolchain(known, env, home));
}

function findToolchain(
  known: KnownToolchain,
  env: Readonly<Record<string, string | undefined>>,
  home: string,
): readonly Toolchain[] {
  const roots = new Map<string, string>();
  for (const [name, defaults] of Object.entries(known.roots)) {
    const given = env[name];
    const places = [...(given !== undefined && isAbsolute(given) ? [given] : []), ...defaults];
    const found = places.map((place) => expandHome(place, home)).find((place) => existsSync(place));
    if (found !== undefined) roots.set(name, found);
  }
  const place = (path: string): string | undefined => expandRoot(path, roots);
  const present = (paths: readonly string[]): readonly string[] =>
    paths.flatMap((path) => place(path) ?? []).filter((path) => existsSync(path));
  if (present(known.needs).length === 0) return [];
  if (known.version !== undefined) {
    const chosen = chooseVersion(place(known.version.file), place(known.version.folder));
    if (chosen !== undefined) roots.set('VERSION', chosen);
  }
  const passed = (known.pass ?? []).flatMap((name) => {
    const root = roots.get(name);
    return root === undefined ? [] : [[name, root] as const];
  });
  return [{ name: known.name, show: present(known.show), path: present(known.path), env: Object.fromEntries(passed) }];
}

export function expandHome(path: string, home: string = homedir()): string {
  return path === '~' || path.startsWith('~/') ? join(home, path.slice(2)) : path;
}

/** As a person would write it in a registry. */
export function shortenHome(path: string, home: string = homedir()): string {
  return path.startsWith(`${home}/`) ? `~${path.slice(home.length)}` : path;
}

function expandRoot(path: string, roots: ReadonlyMap<string, string>): string | undefined {
  const [first = '', ...rest] = path.split('/');
  const root = roots.get(first.slice(1));
  return root === undefined ? undefined : join(root, ...rest);
}

/** The version that a file names (`20`, `v20.1.0`), else the newest there is. */
function chooseVersion(file: string | undefined, folder: string | undefined): string | undefined {
  if (folder === undefined) return undefined;
  const versions = namesIn(folder).toSorted((left, right) => left.localeCompare(right, 'en', { numeric: true }));
  const wanted = file === undefined ? '' : textOf(file).trim().replace(/^v/, '');
  const named = versions.findLast((name) => name === `v${wanted}` || name.startsWith(`v${wanted}.`));
  const chosen = named ?? versions.at(-1);
  return chosen === undefined ? undefined : join(folder, chosen);
}

/** The first of them, in a folder with very many. */
export function namesIn(folder: string): readonly string[] {
  const names: string[] = [];
  try {
    const directory = opendirSync(folder);
    for (let entry = directory.readSync(); entry !== null && names.length < MAX_NAMES; entry = directory.readSync()) {
      names.push(entry.name);
    }
    directory.closeSync();
  } catch (thrown) {
    if (errnoCode(thrown) === undefined) throw thrown;
  }
  return names.toSorted();
}

function textOf(file: string): string {
  try {
    return readFileSync(file, 'utf8').slice(0, 200);
  } catch (thrown) {
    if (errnoCode(thrown) === undefined) throw thrown;
    return '';
  }
}

/** Undefined where there is nothing, or nothing we may look at. */
export function realPathOf(path: string): string | undefined {
  try {
    return realpathSync.native(path);
  } catch (thrown) {
    if (errnoCode(thrown) === undefined) throw thrown;
    return undefined;
  }
}
