/** From a path as imports write it to a file: without its ending, with the ending of the compiled file, or a folder. */
import { posix } from 'node:path';
import type { ProjectFiles } from '../../project-files.ts';
import { parseJsonc } from './parse-jsonc.ts';

const ENDINGS = ['.ts', '.tsx', '.d.ts', '.js', '.jsx', '.mts', '.d.mts', '.mjs', '.cts', '.d.cts', '.cjs'];

/** A compiled file's source comes first. */
const SOURCES: Readonly<Record<string, readonly string[]>> = {
  '.js': ['.ts', '.tsx', '.d.ts', '.js', '.jsx'],
  '.jsx': ['.tsx', '.d.ts', '.jsx'],
  '.mjs': ['.mts', '.d.mts', '.mjs'],
  '.cjs': ['.cts', '.d.cts', '.cjs'],
};

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
