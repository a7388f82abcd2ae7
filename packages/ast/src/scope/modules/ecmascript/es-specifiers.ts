/** From the text of an import to a file of the workspace. What leads elsewhere is external. */
import { posix } from 'node:path';
import type { ProjectFiles } from '../../scope-model.ts';
import {
  createPathMaps,
  foldersAround,
  isRecord,
  type JsonRecord,
  join,
  matchStar,
  type PathMaps,
  parseJsonc,
  probeBuilt,
  probeSource,
} from './path-maps.ts';

export interface SpecifierResolver {
  resolve(from: string, specifier: string): string | undefined;
  /** Leads to no file, yet does not look like a package either: an alias some bundler knows. */
  isUncertain(from: string, specifier: string): boolean;
  /** Texts of which a specifier that leads to the file has one: its name, its folder's, an alias, a package's name. */
  needlesOf(path: string): readonly string[];
}

const ALIAS = /^(?:@\/|~|#|\$|\/)/;

export function createSpecifierResolver(files: ProjectFiles): SpecifierResolver {
  const known = new Map<string, string | undefined>();
  const maps = createPathMaps(files);
  const packages = createOwnPackages(files);
  const resolver: SpecifierResolver = {
    resolve(from, specifier) {
      const key = `${posix.dirname(from)}\0${specifier}`;
      if (!known.has(key)) known.set(key, resolveFresh({ files, maps, packages }, from, specifier));
      return known.get(key);
    },
    isUncertain: (from, specifier) => ALIAS.test(specifier) && resolver.resolve(from, specifier) === undefined,
    needlesOf: (path) => [
      posix.basename(path).replace(/(?:\.d)?\.\w+$/, ''),
      // Of an index file: the folder's name, or nothing but dots.
      ...(/^index\./.test(posix.basename(path)) ? [posix.basename(posix.dirname(path)), "'.", '".'] : []),
      ...packages.namesAround(path),
      ...maps.exactNames(),
    ],
  };
  return resolver;
}

interface Parts {
  readonly files: ProjectFiles;
  readonly maps: PathMaps;
  readonly packages: OwnPackages;
}

function resolveFresh({ files, maps, packages }: Parts, from: string, specifier: string): string | undefined {
  const plain = specifier.replace(/[?#](?=.).*$/s, (tail, at: number) => (at === 0 ? tail : ''));
  if (/^\.{1,2}(?:\/|$)/.test(plain)) return probeSource(files, join(posix.dirname(from), plain));
  if (/^(?:node|https?|data|file):/.test(plain)) return undefined;
  for (const { patterns, baseUrl } of maps.around(from)) {
    for (const { pattern, targets } of patterns) {
      const star = matchStar(pattern, plain);
      if (star === undefined) continue;
      for (const target of targets) {
        const found = probeSource(files, target.replace('*', star));
        if (found !== undefined) return found;
      }
    }
    const based = baseUrl === undefined ? undefined : probeSource(files, join(baseUrl, plain));
    if (based !== undefined) return based;
  }
  return plain.startsWith('#') ? packages.resolveImport(from, plain) : packages.resolve(plain);
}

interface OwnPackage {
  readonly folder: string;
  readonly manifest: JsonRecord;
}

interface OwnPackages {
  /** `name` or `name/sub/path`. */
  resolve(specifier: string): string | undefined;
  /** `#name`, from the package the file belongs to. */
  resolveImport(from: string, specifier: string): string | undefined;
  /** Names of the packages the file lies in, and of what they import by a name of their own. */
  namesAround(path: string): readonly string[];
}

/** Packages of the workspace by their name, and what their `exports` and `imports` lead to. */
function createOwnPackages(files: ProjectFiles): OwnPackages {
  const byName = new Map<string, OwnPackage>();
  const byFolder = new Map<string, OwnPackage>();
  for (const path of files.list()) {
    if (posix.basename(path) !== 'package.json' || path.includes('node_modules/')) continue;
    const manifest = parseJsonc(files.read(path));
    if (manifest === undefined) continue;
    const own = { folder: posix.dirname(path), manifest };
    byFolder.set(own.folder, own);
    if (typeof manifest['name'] === 'string') byName.set(manifest['name'], own);
  }
  return {
    resolve(specifier) {
      const parts = specifier.split('/');
      const length = specifier.startsWith('@') ? 2 : 1;
      const own = byName.get(parts.slice(0, length).join('/'));
      return own && resolveSubpath(files, own, ['.', ...parts.slice(length)].join('/'));
    },
    resolveImport(from, specifier) {
      const folder = foldersAround(from).find((one) => byFolder.has(one));
      const own = folder === undefined ? undefined : byFolder.get(folder);
      return own && firstFile(files, own, targetsFor(own.manifest['imports'], specifier));
    },
    namesAround(path) {
      const around = foldersAround(path).flatMap((folder) => byFolder.get(folder) ?? []);
      const names = around.map(({ manifest }) => manifest['name']).filter((name) => typeof name === 'string');
      return around.some(({ manifest }) => isRecord(manifest['imports'])) ? [...names, "'#", '"#'] : names;
    },
  };
}

function resolveSubpath(files: ProjectFiles, own: OwnPackage, subpath: string): string | undefined {
  const { exports } = own.manifest;
  if (exports !== undefined) {
    const table =
      isRecord(exports) && Object.keys(exports).some((key) => key.startsWith('.')) ? exports : { '.': exports };
    const found = firstFile(files, own, targetsFor(table, subpath));
    if (found !== undefined) return found;
  }
  return probeSource(files, join(own.folder, subpath)) ?? probeSource(files, join(own.folder, `src/${subpath}`));
}

/** Of all conditions the first that leads to a source; which of them a tool would choose does not matter here. */
function firstFile(files: ProjectFiles, { folder }: OwnPackage, targets: readonly string[]): string | undefined {
  const found = targets.map((target) => probeBuilt(files, join(folder, target))).filter((path) => path !== undefined);
  return found.find((path) => !/\.d\.[mc]?ts$/.test(path)) ?? found[0];
}

function targetsFor(table: unknown, key: string): string[] {
  if (!isRecord(table)) return [];
  if (key in table) return allTargets(table[key]);
  for (const [pattern, value] of Object.entries(table)) {
    const star = pattern.includes('*') ? matchStar(pattern, key) : undefined;
    if (star !== undefined) return allTargets(value).map((target) => target.replace('*', star));
  }
  return [];
}

function allTargets(value: unknown): string[] {
  if (typeof value === 'string') return [value];
  if (Array.isArray(value)) return value.flatMap(allTargets);
  return isRecord(value) ? Object.values(value).flatMap(allTargets) : [];
}
