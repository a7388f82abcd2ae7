/** What the package manifests say: names, dependencies, and the source file of each declared entry. */
import path from 'node:path';
import type { SourceFile, Tree } from './read-tree.ts';

export const SCOPE = '@tool-runtime/';

export interface PackageFacts {
  /** Folder name under packages/, equal to the name after the scope. */
  readonly name: string;
  readonly dependencies: ReadonlySet<string>;
  readonly devDependencies: ReadonlySet<string>;
  /** `.` or `./sub` → path of its source, from the root. */
  readonly entries: ReadonlyMap<string, string>;
}

interface Manifest {
  readonly dependencies?: Record<string, string>;
  readonly optionalDependencies?: Record<string, string>;
  readonly peerDependencies?: Record<string, string>;
  readonly devDependencies?: Record<string, string>;
  readonly exports?: Record<string, string | EntryFiles>;
}

export function readPackages(tree: Tree): Map<string, PackageFacts> {
  const packages = new Map<string, PackageFacts>();
  const rootDev = Object.keys(parse(tree, 'package.json').devDependencies ?? {});
  for (const { path: file } of tree.texts) {
    const name = /^packages\/([^/]+)\/package\.json$/.exec(file)?.[1];
    if (name === undefined) continue;
    const manifest = parse(tree, file);
    const groups = [manifest.dependencies, manifest.optionalDependencies, manifest.peerDependencies];
    packages.set(name, {
      name,
      dependencies: new Set(groups.flatMap((group) => Object.keys(group ?? {}))),
      devDependencies: new Set([...rootDev, ...Object.keys(manifest.devDependencies ?? {})]),
      entries: new Map(Object.entries(manifest.exports ?? {}).flatMap(([key, value]) => entryOf(name, key, value))),
    });
  }
  return packages;
}

export function packageOf(file: string): string | undefined {
  return /^packages\/([^/]+)\//.exec(file)?.[1];
}

/** The bare name of an installed package: `zod/v4` → `zod`, `@scope/name/sub` → `@scope/name`. */
export function bareName(specifier: string): string {
  return specifier
    .split('/')
    .slice(0, specifier.startsWith('@') ? 2 : 1)
    .join('/');
}

/** The file of ours an import leads to, when it exists in the tree. */
export function resolveImport(
  tree: Tree,
  packages: ReadonlyMap<string, PackageFacts>,
  from: SourceFile,
  specifier: string,
): SourceFile | undefined {
  if (specifier.startsWith('.')) return tree.source(resolveRelative(from.path, specifier));
  if (!specifier.startsWith(SCOPE)) return undefined;
  const [name = '', ...rest] = specifier.slice(SCOPE.length).split('/');
  const entry = packages.get(name)?.entries.get(['.', ...rest].join('/'));
  return entry === undefined ? undefined : tree.source(entry);
}

export function resolveRelative(from: string, specifier: string): string {
  return path.posix.join(path.posix.dirname(from), specifier);
}

/** An entry under a condition of our own: `source` alone is also used by packages that are not ours. */
interface EntryFiles {
  readonly 'tool-runtime-source'?: string;
}

function entryOf(name: string, key: string, value: string | EntryFiles): [string, string][] {
  const source = typeof value === 'string' ? value : value['tool-runtime-source'];
  return source === undefined ? [] : [[key, path.posix.join('packages', name, source)]];
}

function parse(tree: Tree, file: string): Manifest {
  const text = tree.text(file);
  return text === undefined ? {} : (JSON.parse(text) as Manifest);
}
