/** From the dotted name of a module to its file. A folder without `__init__.py` is a package too. */
import { posix } from 'node:path';
import type { ProjectFiles } from '../../scope-model.ts';

export interface PythonPaths {
  /** A file, or a folder with a slash at its end for a package that has no file of its own. */
  resolve(from: string, source: string): string | undefined;
  /** A module inside of a package. */
  inside(module: string, name: string): string | undefined;
  /** Leads to no file from here, though some file of the workspace bears the name. */
  isUncertain(from: string, source: string): boolean;
}

const INIT = ['__init__.py', '__init__.pyi'];

export function createPythonPaths(files: ProjectFiles): PythonPaths {
  const folders = new Set<string>(['.']);
  const sourceRoots = new Set<string>();
  const pythonFiles = files.list().filter((path) => /\.pyi?$/.test(path));
  for (const path of pythonFiles) {
    for (let folder = posix.dirname(path); folder !== '.' && !folders.has(folder); folder = posix.dirname(folder)) {
      folders.add(folder);
      if (/^(?:src|lib|python)$/.test(posix.basename(folder))) sourceRoots.add(folder);
    }
  }
  const known = new Map<string, string | undefined>();

  function find(folder: string, parts: readonly string[]): string | undefined {
    const path = posix.join(folder, ...parts);
    if (path.startsWith('..')) return undefined;
    const file = [...INIT.map((init) => posix.join(path, init)), `${path}.py`, `${path}.pyi`].find((one) =>
      files.exists(one),
    );
    return file ?? (folders.has(path) ? `${path}/` : undefined);
  }

  /** The workspace, its source folders, the folders around the file that are no packages, source folders elsewhere. */
  function rootsFor(from: string): string[] {
    const around: string[] = [];
    for (let folder = posix.dirname(from); folder !== '.'; folder = posix.dirname(folder)) around.unshift(folder);
    const roots = around.filter((folder) => !INIT.some((init) => files.exists(posix.join(folder, init))));
    return ['.', 'src', ...roots, ...sourceRoots];
  }

  function resolveFresh(from: string, source: string): string | undefined {
    const [, dots = '', rest = ''] = /^(\.*)(.*)$/.exec(source) ?? [];
    const parts = rest === '' ? [] : rest.split('.');
    if (dots !== '') return find(posix.join(posix.dirname(from), '../'.repeat(dots.length - 1)), parts);
    const found = rootsFor(from).map((root) => find(root, parts));
    // A folder that merely has the name comes after every file.
    return found.find((one) => one !== undefined && !one.endsWith('/')) ?? found.find((one) => one !== undefined);
  }

  const paths: PythonPaths = {
    resolve(from, source) {
      const key = `${posix.dirname(from)}\0${source}`;
      if (!known.has(key)) known.set(key, resolveFresh(from, source));
      return known.get(key);
    },
    inside(module, name) {
      if (module.endsWith('/')) return find(module, [name]);
      return INIT.includes(posix.basename(module)) ? find(posix.dirname(module), [name]) : undefined;
    },
    isUncertain(from, source) {
      if (paths.resolve(from, source) !== undefined) return false;
      const tail = `/${source.replace(/^\.+/, '').replaceAll('.', '/')}`;
      return pythonFiles.some((path) => path.endsWith(`${tail}.py`) || path.endsWith(`${tail}/__init__.py`));
    },
  };
  return paths;
}
