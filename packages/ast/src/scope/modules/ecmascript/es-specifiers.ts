/** From the text of an import to a file of the workspace. What leads elsewhere is external. */
import { posix } from 'node:path';
import type { ProjectFiles } from '../../project-files.ts';
import { createOwnPackages, type OwnPackages } from './own-packages.ts';
import { createPathMaps, matchStar, type PathMaps } from './path-maps.ts';
import { join, probeSource } from './probe-source.ts';

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
