/** Packages of the workspace by their name, and what their `exports` and `imports` lead to. */
import { posix } from 'node:path';
import type { ProjectFiles } from '../../project-files.ts';
import { isRecord, type JsonRecord, parseJsonc } from './parse-jsonc.ts';
import { matchStar } from './path-maps.ts';
import { foldersAround, join, probeBuilt, probeSource } from './probe-source.ts';

interface OwnPackage {
  readonly folder: string;
  readonly manifest: JsonRecord;
}

export interface OwnPackages {
  /** `name` or `name/sub/path`. */
  resolve(specifier: string): string | undefined;
  /** `#name`, from the package the file belongs to. */
  resolveImport(from: string, specifier: string): string | undefined;
  /** Names of the packages the file lies in, and of what they import by a name of their own. */
  namesAround(path: string): readonly string[];
}

export function createOwnPackages(files: ProjectFiles): OwnPackages {
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
