/**
 * How one module names another when code moves between them.
 *
 * `path`: by a relative path, with or without ending as the project does it. `dotted`: by the names of packages, absolute
 * or with leading dots as the importing file does it. `folder`: not at all.
 */
import type { NodeFact } from '../../contracts/facts.ts';
import type { Reference } from '../../scope/find-references.ts';
import type { Draft } from '../draft.ts';
import type { Target } from '../edit-desk.ts';
import { refuseEdit } from '../edit-failures.ts';
import type { OperationOf } from '../edit-operations.ts';
import type { MoveForms } from '../edit-profile.ts';
import type { Work } from '../work.ts';
import type { NeededNames } from './needed-names.ts';

export interface ModuleNames {
  /** What `importer` writes to import from the file `path`; in the manner of `alike` when it imports nothing yet. */
  nameFor(importer: Draft, path: string, alike?: Draft): Promise<string>;
  /** An import of `from` as `to` must write it to mean the same module. */
  rebased(source: string, from: string, to: string): string;
  /** Whether a source, as written in the file `from`, means the file `path`. */
  isFile(source: string, from: string, path: string): boolean;
}

export function moduleNames(by: MoveForms['by'], work: Work): ModuleNames {
  if (by === 'path') return pathNames(work);
  return by === 'dotted' ? dottedNames(work) : folderNames();
}

const ENDING = /\.(?:d\.)?[cm]?[jt]sx?$/;
/** Files looked at for the project's habit. */
const MAX_FILES = 100;

function pathNames({ desk }: Work): ModuleNames {
  const bare = (path: string) => path.replace(ENDING, '').replace(/\/index$/, '');
  async function endingFor(importer: Draft, path: string, alike: Draft): Promise<string> {
    const own = [importer, alike].flatMap(({ facts }) => facts.imports.map(({ source }) => source)).find(isRelative);
    const habit = own ?? (await habitOfProject(importer));
    if (habit === undefined) return '';
    const ending = ENDING.exec(habit)?.[0];
    if (ending === undefined) return '';
    const actual = ENDING.exec(path)?.[0] ?? '';
    return ending.includes('j') && actual.includes('t') ? actual.replace('t', 'j').replace(/x$/, '') : actual;
  }
  async function habitOfProject({ path: own, parser }: Draft): Promise<string | undefined> {
    const { index } = desk.parts;
    const files = index.files().filter((path) => path !== own && index.fileRow(path)?.language === parser.language);
    for (const path of files.slice(0, MAX_FILES)) {
      const found = (await index.importsOf(path)).map(({ source }) => source).find(isRelative);
      if (found !== undefined) return found;
    }
    return undefined;
  }
  return {
    async nameFor(importer, path, alike = importer) {
      const ending = await endingFor(importer, path, alike);
      const short = relativePath(folderOf(importer.path), path).replace(ENDING, '');
      return ending === '' ? short.replace(/\/index$/, '') : short + ending;
    },
    rebased(source, from, to) {
      if (!isRelative(source)) return source;
      const meant = joinPath(folderOf(from), source);
      return meant === undefined ? source : relativePath(folderOf(to), meant);
    },
    isFile: (source, from, path) => isRelative(source) && bare(joinPath(folderOf(from), source) ?? '') === bare(path),
  };
}

function isRelative(source: string): boolean {
  return source.startsWith('./') || source.startsWith('../') || source === '.' || source === '..';
}

function dottedNames({ desk }: Work): ModuleNames {
  const partsOf = (path: string) =>
    path
      .replace(/\.pyi?$/, '')
      .replace(/(^|\/)__init__$/, '')
      .split('/')
      .filter(Boolean);
  /** The folder that absolute names begin in: above the outermost package. */
  const rootOf = (path: string) => {
    let folder = folderOf(path);
    while (folder !== '' && desk.files.exists(`${folder}/__init__.py`)) folder = folderOf(folder);
    return folder;
  };
  const absolute = (path: string, root: string) => {
    const [parts, base] = [partsOf(path), root === '' ? [] : root.split('/')];
    if (!base.every((name, at) => parts[at] === name)) return undefined;
    return parts.slice(base.length).join('.');
  };
  const relative = (from: string, parts: readonly string[]) => {
    const base = folderOf(from) === '' ? [] : folderOf(from).split('/');
    let same = 0;
    while (same < base.length && same < parts.length && base[same] === parts[same]) same++;
    return '.'.repeat(base.length - same + 1) + parts.slice(same).join('.');
  };
  const meant = (source: string, from: string): readonly string[] | undefined => {
    const dots = /^\.*/.exec(source)?.[0].length ?? 0;
    const names = source.slice(dots).split('.').filter(Boolean);
    if (dots === 0) return [...rootOf(from).split('/').filter(Boolean), ...names];
    const base = folderOf(from).split('/').filter(Boolean);
    return dots - 1 > base.length ? undefined : [...base.slice(0, base.length - dots + 1), ...names];
  };
  return {
    async nameFor(importer, path, alike = importer) {
      const root = rootOf(importer.path);
      const isInside = root !== folderOf(importer.path);
      const shown = importer.facts.imports.length > 0 ? importer : alike;
      const prefersDots = isInside && shown.facts.imports.some(({ source }) => source.startsWith('.'));
      const name = absolute(path, root);
      if (prefersDots) return relative(importer.path, partsOf(path));
      if (name !== undefined && name !== '') return name;
      throw refuseEdit('no_module_name', `File cannot be imported from there: ${path}`, {
        path: importer.path,
        next: 'move it to a file of the same package',
      });
    },
    rebased(source, from, to) {
      if (!source.startsWith('.')) return source;
      const parts = meant(source, from);
      return parts === undefined ? source : relative(to, parts);
    },
    isFile: (source, from, path) => meant(source, from)?.join('/') === partsOf(path).join('/'),
  };
}

function folderNames(): ModuleNames {
  return { nameFor: async () => '', rebased: (source) => source, isFile: () => false };
}

/** Workspace-relative paths as text. */
export function folderOf(path: string): string {
  return path.includes('/') ? path.slice(0, path.lastIndexOf('/')) : '';
}

export function stemOf(path: string): string {
  const name = path.slice(path.lastIndexOf('/') + 1);
  return name.includes('.') ? name.slice(0, name.indexOf('.')) : name;
}

/** Without `.` and `..`; undefined when it leads out of the workspace. */
export function joinPath(folder: string, relative: string): string | undefined {
  const names: string[] = [];
  for (const name of [...folder.split('/'), ...relative.split('/')]) {
    if (name === '' || name === '.') continue;
    if (name !== '..') names.push(name);
    else if (names.pop() === undefined) return undefined;
  }
  return names.join('/');
}

/** From a folder to a path; begins with `./` or `../`. */
function relativePath(folder: string, path: string): string {
  const from = folder === '' ? [] : folder.split('/');
  const to = path.split('/');
  let same = 0;
  while (same < from.length && same < to.length - 1 && from[same] === to[same]) same++;
  const up = '../'.repeat(from.length - same);
  return (up === '' ? './' : up) + to.slice(same).join('/');
}

export interface Moving {
  readonly target: Target;
  readonly to: Draft;
  readonly forms: MoveForms;
  readonly names: ModuleNames;
  readonly needed: NeededNames;
  /** None where files of a folder need no imports from each other. */
  readonly references: readonly Reference[];
  /** The old file goes on using what is moved. */
  readonly isUsedHere: boolean;
  readonly operation: OperationOf<'move_symbol'>;
}

/** What the steps of a move share. */
export function isType({ type }: NodeFact): boolean {
  return type === 'interface' || type === 'type';
}
