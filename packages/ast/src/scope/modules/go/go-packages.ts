/** Packages of Go: a folder is a package, and `go.mod` says what its import path begins with. */
import { posix } from 'node:path';
import type { ProjectFiles } from '../../project-files.ts';

export interface GoPackages {
  /** Folder of an import path; undefined for what lies outside of the workspace. */
  folderOf(importPath: string): string | undefined;
  /** What imports of the folder write. */
  importPathsOf(folder: string): readonly string[];
  /** Name in the package clause of a file, read without parsing. */
  nameOf(path: string): string;
  /** Files of the same package, tests of the package itself among them. */
  filesOf(folder: string, name: string): readonly string[];
  /** The package that an import of the folder means: not the one of its outside tests. */
  importedName(folder: string): string | undefined;
}

const CLAUSE = /^(?:\s|\/\/[^\n]*\n|\/\*[\s\S]*?\*\/)*package\s+([\p{L}_][\p{L}\p{Nd}_]*)/u;

export function createGoPackages(files: ProjectFiles): GoPackages {
  const modules: { readonly name: string; readonly folder: string }[] = [];
  const byFolder = new Map<string, string[]>();
  for (const path of files.list()) {
    const folder = posix.dirname(path);
    if (path.endsWith('.go')) byFolder.set(folder, [...(byFolder.get(folder) ?? []), path]);
    if (posix.basename(path) !== 'go.mod') continue;
    const name = /^\s*module\s+"?([^\s"]+)/m.exec(textOf(files, path))?.[1];
    if (name !== undefined) modules.push({ name, folder });
  }
  modules.sort((left, right) => right.name.length - left.name.length);
  const names = new Map<string, string>();
  const nameOf = (path: string) => {
    const known = names.get(path) ?? CLAUSE.exec(textOf(files, path))?.[1] ?? '';
    names.set(path, known);
    return known;
  };
  return {
    folderOf(importPath) {
      const home = modules.find(({ name }) => importPath === name || importPath.startsWith(`${name}/`));
      const folder = home && posix.join(home.folder, importPath.slice(home.name.length + 1));
      return folder !== undefined && byFolder.has(folder) ? folder : undefined;
    },
    importPathsOf(folder) {
      const homes = modules.filter((one) => one.folder === '.' || `${folder}/`.startsWith(`${one.folder}/`));
      return homes.map((home) => posix.join(home.name, posix.relative(home.folder, folder)));
    },
    nameOf,
    filesOf: (folder, name) => (byFolder.get(folder) ?? []).filter((path) => nameOf(path) === name),
    importedName(folder) {
      const paths = byFolder.get(folder) ?? [];
      const first = paths.find((path) => !path.endsWith('_test.go')) ?? paths[0];
      return first === undefined ? undefined : nameOf(first);
    },
  };
}

function textOf(files: ProjectFiles, path: string): string {
  return new TextDecoder().decode(files.read(path) ?? new Uint8Array());
}
