/** `baseUrl` and `paths` of tsconfig.json and jsconfig.json, through `extends` and project references. */
import { posix } from 'node:path';
import type { ProjectFiles } from '../../scope-model.ts';

export interface PathMap {
  /** Where names without a dot are looked for, when configured. */
  readonly baseUrl: string | undefined;
  /** Patterns with at most one star, the most specific first. */
  readonly patterns: readonly { readonly pattern: string; readonly targets: readonly string[] }[];
}

export interface PathMaps {
  /** Of the configuration nearest to the file, then of those it refers to, then further out. */
  around(path: string): readonly PathMap[];
  /** Patterns without a star, of all configurations. */
  exactNames(): readonly string[];
}

const NAMES = ['tsconfig.json', 'jsconfig.json'];

export function createPathMaps(files: ProjectFiles): PathMaps {
  const byFolder = new Map<string, readonly PathMap[]>();
  const ofFolder = (folder: string) => {
    const known = byFolder.get(folder) ?? readFolder(files, folder);
    byFolder.set(folder, known);
    return known;
  };
  return {
    around: (path) => foldersAround(path).flatMap(ofFolder),
    exactNames() {
      const folders = files
        .list()
        .filter((path) => NAMES.includes(posix.basename(path)))
        .map((path) => posix.dirname(path));
      const patterns = folders.flatMap(ofFolder).flatMap((map) => map.patterns.map(({ pattern }) => pattern));
      return patterns.filter((pattern) => !pattern.includes('*'));
    },
  };
}

function readFolder(files: ProjectFiles, folder: string): readonly PathMap[] {
  return NAMES.map((name) => join(folder, name))
    .filter((path) => files.exists(path))
    .flatMap((path) => [path, ...references(files, path)])
    .flatMap((path) => toPathMap(readOptions(files, path, new Set())));
}

function references(files: ProjectFiles, path: string): string[] {
  const listed = parseJsonc(files.read(path))?.['references'];
  return (Array.isArray(listed) ? listed : [])
    .map((one: unknown) => (isRecord(one) ? one['path'] : undefined))
    .filter((one) => typeof one === 'string')
    .map((one) => join(posix.dirname(path), one))
    .map((one) => (files.exists(one) ? one : join(one, 'tsconfig.json')))
    .filter((one) => files.exists(one));
}

interface Options {
  readonly baseUrl?: string;
  readonly paths?: JsonRecord;
  /** Folder that `paths` are relative to without a `baseUrl`. */
  readonly pathsFolder?: string;
}

function readOptions(files: ProjectFiles, path: string, seen: Set<string>): Options {
  const config = seen.has(path) ? undefined : parseJsonc(files.read(path));
  if (config === undefined) return {};
  seen.add(path);
  const folder = posix.dirname(path);
  const inherited = extended(config)
    .map((name) => findExtended(files, folder, name))
    .map((one) => (one === undefined ? {} : readOptions(files, one, seen)));
  const { baseUrl, paths } = isRecord(config['compilerOptions']) ? config['compilerOptions'] : {};
  return Object.assign(
    {},
    ...inherited,
    typeof baseUrl === 'string' ? { baseUrl: join(folder, baseUrl) } : {},
    isRecord(paths) ? { paths, pathsFolder: folder } : {},
  );
}

function extended(config: JsonRecord): string[] {
  const named = config['extends'];
  return (Array.isArray(named) ? named : [named]).filter((one): one is string => typeof one === 'string');
}

/** Only files of the workspace: what a package brings along is not ours to know. */
function findExtended(files: ProjectFiles, folder: string, name: string): string | undefined {
  if (!name.startsWith('.')) return undefined;
  const path = join(folder, name);
  return [path, `${path}.json`, join(path, 'tsconfig.json')].find((one) => files.exists(one));
}

function toPathMap({ baseUrl, paths = {}, pathsFolder = '.' }: Options): PathMap[] {
  const folder = baseUrl ?? pathsFolder;
  const patterns = Object.entries(paths).map(([pattern, targets]) => ({
    pattern,
    targets: (Array.isArray(targets) ? targets : [])
      .filter((one): one is string => typeof one === 'string')
      .map((one) => join(folder, one)),
  }));
  patterns.sort((left, right) => prefixLength(right.pattern) - prefixLength(left.pattern));
  return baseUrl === undefined && patterns.length === 0 ? [] : [{ baseUrl, patterns }];
}

function prefixLength(pattern: string): number {
  const star = pattern.indexOf('*');
  return star === -1 ? Number.MAX_SAFE_INTEGER : star;
}

/** What the star matches when the pattern fits; an empty text for a pattern without a star. */
export function matchStar(pattern: string, text: string): string | undefined {
  const star = pattern.indexOf('*');
  if (star === -1) return pattern === text ? '' : undefined;
  const [before, after] = [pattern.slice(0, star), pattern.slice(star + 1)];
  const fits = text.length >= before.length + after.length && text.startsWith(before) && text.endsWith(after);
  return fits ? text.slice(before.length, text.length - after.length) : undefined;
}

/** A string stays as it is; a comment, or a comma before a closing bracket, goes. */
const NOISE = /("(?:\\.|[^"\\])*")|\/\/[^\n]*|\/\*[\s\S]*?\*\/|,(?=(?:\s|\/\/[^\n]*\n|\/\*[\s\S]*?\*\/)*[}\]])/g;

/**
 * Configuration files of the TypeScript world: JSON with comments and trailing commas. Broken text gives undefined.
 */
export function parseJsonc(bytes: Uint8Array | undefined): JsonRecord | undefined {
  if (bytes === undefined) return undefined;
  const text = new TextDecoder().decode(bytes).replace(NOISE, '$1');
  try {
    const value: unknown = JSON.parse(text);
    return isRecord(value) ? value : undefined;
  } catch {
    // A file that is being written, or no JSON at all: as if it were not there.
    return undefined;
  }
}

export type JsonRecord = Readonly<Record<string, unknown>>;

export function isRecord(value: unknown): value is JsonRecord {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

const ENDINGS = ['.ts', '.tsx', '.d.ts', '.js', '.jsx', '.mts', '.d.mts', '.mjs', '.cts', '.d.cts', '.cjs'];

/** A compiled file's source comes first. */
const SOURCES: Readonly<Record<string, readonly string[]>> = {
  '.js': ['.ts', '.tsx', '.d.ts', '.js', '.jsx'],
  '.jsx': ['.tsx', '.d.ts', '.jsx'],
  '.mjs': ['.mts', '.d.mts', '.mjs'],
  '.cjs': ['.cts', '.d.cts', '.cjs'],
};

/**
 * From a path as imports write it to a file: without its ending, with the ending of the compiled file, or a folder.
 */
export function probeSource(files: ProjectFiles, path: string): string | undefined {
  const base = posix.normalize(path).replace(/\/$/, '');
  if (base.startsWith('..')) return undefined;
  const ending = posix.extname(base);
  const stem = ending === '' ? base : base.slice(0, -ending.length);
  const candidates = [...(SOURCES[ending] ?? []).map((one) => stem + one), base, ...ENDINGS.map((one) => base + one)];
  return candidates.find((candidate) => files.exists(candidate)) ?? probeFolder(files, base);
}

function probeFolder(files: ProjectFiles, folder: string): string | undefined {
  const manifest = parseJsonc(files.read(join(folder, 'package.json')));
  for (const field of ['source', 'types', 'typings', 'module', 'main']) {
    const entry = manifest?.[field];
    const found = typeof entry === 'string' ? probeBuilt(files, join(folder, entry)) : undefined;
    if (found !== undefined) return found;
  }
  return ENDINGS.map((ending) => join(folder, `index${ending}`)).find((candidate) => files.exists(candidate));
}

/** The source of what a build writes: `dist/a.js` comes from `src/a.ts` where there is no `dist`. */
export function probeBuilt(files: ProjectFiles, path: string): string | undefined {
  const source = path.replace(/(^|\/)(?:dist|lib|build|out|esm|cjs)(?:\/(?:esm|cjs|types))?\//, '$1src/');
  const fromSource = source === path ? undefined : probeFile(files, source);
  return fromSource ?? probeFile(files, path);
}

function probeFile(files: ProjectFiles, path: string): string | undefined {
  const base = posix.normalize(path);
  const plain = base.replace(/\.d\.([mc]?)ts$/, '.$1js');
  const ending = posix.extname(plain);
  const stem = ending === '' ? plain : plain.slice(0, -ending.length);
  const candidates = [...(SOURCES[ending] ?? []).map((one) => stem + one), base, ...ENDINGS.map((one) => base + one)];
  return candidates.find((candidate) => files.exists(candidate));
}

export function join(folder: string, path: string): string {
  return posix.join(folder, path);
}

/** The folder of a path and all folders around it, innermost first; the workspace's own is `.`. */
export function foldersAround(path: string): string[] {
  const folders: string[] = [];
  for (let folder = posix.dirname(path); ; folder = posix.dirname(folder)) {
    folders.push(folder);
    if (folder === '.' || folder === '/') return folders;
  }
}
