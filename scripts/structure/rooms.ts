/**
 * The size of rooms: a folder of a package holds enough to be worth opening and not too much to be read as a list.
 *
 * The limits on files and folders push towards more and smaller pieces. The check for fragments pushes back.
 */
import path from 'node:path';
import { CATALOG_KINDS } from './catalog-kinds.ts';
import { entriesOf } from './catalogs.ts';
import type { Finding } from './finding.ts';
import { readPackages, resolveImport } from './packages.ts';
import type { SourceFile, Tree } from './read-tree.ts';
import { isStage } from './stage-isolation.ts';

const MOST_SOURCES = 40;
const FRAGMENT_LINES = 25;

/** A folder of src with more than 40 sources, or with one source and nothing else, is no room. */
export function checkRooms(tree: Tree): Finding[] {
  const counts = new Map<string, number>();
  const parents = new Set<string>();
  for (const folder of shippedSources(tree).map((file) => path.posix.dirname(file.path))) {
    counts.set(folder, (counts.get(folder) ?? 0) + 1);
    for (let up = path.posix.dirname(folder); up.includes('/src'); up = path.posix.dirname(up)) parents.add(up);
  }
  return [...counts].flatMap(([folder, count]) => {
    if (count > MOST_SOURCES) {
      const what = `${count} sources in one folder, more than ${MOST_SOURCES}`;
      return [fail(folder, what, 'Sort them into subfolders, one for each subject')];
    }
    if (count > 1 || parents.has(folder) || folder.endsWith('/src')) return [];
    return [fail(folder, 'A folder with a single source', 'Move the file up, or into the folder that uses it')];
  });
}

/** A short file without a test of its own, with a single user in its folder, belongs in the file of that user. */
export function checkFragments(tree: Tree): Finding[] {
  const packages = readPackages(tree);
  const entries = new Set([...packages.values()].flatMap((facts) => [...facts.entries.values()]));
  const listed = new Set(CATALOG_KINDS.flatMap((kind) => entriesOf(tree, kind).map((file) => file.path)));
  const users = new Map<string, Set<SourceFile>>();
  const lazy = new Set<string>();
  for (const file of tree.sources.filter((one) => !one.isTest)) {
    for (const link of file.imports) {
      const target = resolveImport(tree, packages, file, link.specifier);
      if (target === undefined) continue;
      if (link.kind === 'dynamic') lazy.add(target.path);
      users.set(target.path, (users.get(target.path) ?? new Set()).add(file));
    }
  }
  return shippedSources(tree).flatMap((file) => {
    const [user, ...others] = users.get(file.path) ?? [];
    if (file.lineCount >= FRAGMENT_LINES || user === undefined || others.length > 0) return [];
    if (entries.has(file.path) || listed.has(file.path) || lazy.has(file.path) || isStage(file.path)) return [];
    // A list names things of its own size, and an entry publishes them: neither is a place for their code.
    if (isCatalog(file) || isCatalog(user) || entries.has(user.path)) return [];
    // In another folder it may be what a layer offers; with a test of its own it is a unit.
    if (path.posix.dirname(user.path) !== path.posix.dirname(file.path)) return [];
    if (tree.has(file.path.replace(/\.ts$/, '.test.ts'))) return [];
    const what = `${file.lineCount} lines with a single user, ${user.path}`;
    return [{ level: 'fail', check: 'fragments', file: file.path, what, next: 'Move the code into that file' }];
  });
}

function shippedSources(tree: Tree): SourceFile[] {
  return tree.sources.filter((file) => !file.isTest && /^packages\/[^/]+\/src\//.test(file.path));
}

function isCatalog(file: SourceFile): boolean {
  return /^(?:catalog|[a-z-]+-catalog)\.ts$/.test(path.posix.basename(file.path));
}

function fail(file: string, what: string, next: string): Finding {
  return { level: 'fail', check: 'rooms', file, what, next };
}
