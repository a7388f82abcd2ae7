/** Imports of the checked files that cross a boundary of the registry. */
import { posix } from 'node:path';
import { isToolError, type JsonObject } from '@tool-runtime/protocol';
import type { ChangedFile, ChangeSet, RuleContext, Violation } from '@tool-runtime/sdk';
import { resolveRelative } from '../../index/find-importers.ts';
import type { ImportPlace } from '../../inspect/code-record.ts';
import { isIgnored } from '../../inspect/code-record.ts';
import { type InspectedFile, inspectChanges } from '../../inspect/inspect-changes.ts';
import { MAX_VIOLATIONS, unjudged, withIgnored } from '../../inspect/judge-places.ts';
import type { UseServices } from '../../plugin/code-services.ts';
import { familyOf } from '../../scope/modules/catalog.ts';
import type { ProjectFiles } from '../../scope/scope-model.ts';
import { openScopeProject } from '../../scope/scope-project.ts';
import type { Engine } from '../../symbols/engine.ts';
import type { ImportRule } from './import-rule.ts';

export interface ImportJudgement {
  readonly rule: string;
  readonly boundaries: readonly ImportRule[];
}

export async function judgeImports(
  { rule, boundaries }: ImportJudgement,
  use: UseServices,
  context: RuleContext,
): Promise<readonly Violation[]> {
  const changes = await context.changeSet();
  const services = use();
  const inspected = await inspectChanges(changes, { services, context });
  const files = inspected.filter(({ file }) => boundaries.some(({ appliesTo }) => appliesTo(file.path)));
  const unknown = files.flatMap(({ file, record }) =>
    record.unknown?.mayHold.includes('imports') === true ? [unjudged(file.path, record.unknown.reason)] : [],
  );
  const importing = files.filter(({ record }) => record.imports.length > 0);
  if (importing.length === 0) return unknown;
  const tree = await readJudgedTree(changes, context, new Set(importing.map(({ file }) => file.path)));
  const resolve = await resolveImports(importing, { tree, engine: await services.engine(), signal: context.signal });
  const ignored: JsonObject[] = [];
  const crossing = importing.flatMap((one) => {
    const found = crossings(one, boundaries, resolve);
    const isOff = ({ line }: Crossing): boolean => isIgnored(rule, { line, from: line }, one.record.ignored);
    ignored.push(...found.filter(isOff).map(({ line, target }) => ({ path: one.file.path, line, name: target.name })));
    return found.filter((crossed) => !isOff(crossed)).map((crossed) => violation(one.file.path, crossed));
  });
  return withIgnored([...unknown, ...crossing].slice(0, MAX_VIOLATIONS), ignored);
}

interface Crossing {
  readonly line: number;
  readonly target: ImportTarget;
  readonly boundary: ImportRule;
}

/** Each place once for each target, however many names are imported there. */
function crossings(
  { file, record }: InspectedFile,
  boundaries: readonly ImportRule[],
  resolve: ResolveImport,
): readonly Crossing[] {
  const found = new Map<string, Crossing>();
  const judging = boundaries.filter(({ appliesTo }) => appliesTo(file.path));
  for (const { source, line, typeOnly } of statements(record.imports)) {
    for (const target of resolve(file.path, source)) {
      const boundary = judging.find(
        ({ countsTypes, permits }) => (countsTypes || !typeOnly) && !permits(target.name, target.isFile),
      );
      if (boundary !== undefined) found.set(`${line} ${target.name}`, { line, target, boundary });
    }
  }
  return [...found.values()];
}

/** A statement imports types only when each of its names is one. */
function statements(imports: readonly ImportPlace[]): readonly ImportPlace[] {
  const joined = new Map<string, ImportPlace>();
  for (const one of imports) {
    const key = `${one.line} ${one.source}`;
    const typeOnly = one.typeOnly && joined.get(key)?.typeOnly !== false;
    joined.set(key, { ...one, typeOnly });
  }
  return [...joined.values()];
}

function violation(path: string, { line, target, boundary }: Crossing): Violation {
  const { message, registry } = boundary;
  return {
    message: `${message}: ${path}:${line} imports ${target.name}`,
    path,
    line,
    next: 'go through what the boundary allows, or move the code; an exception needs a comment: sdk-ignore code.mod.import.rules',
    details: { target: target.name, ...(registry === undefined ? {} : { import_rule: registry }) },
  };
}

/** Which files the imports of checked files lead to, by the rules of their language. */
interface ImportTarget {
  readonly name: string;
  /** A file of the workspace; otherwise the text of the import, which names a package. */
  readonly isFile: boolean;
}

/** What the import of `source` in `path` means. */
type ResolveImport = (path: string, source: string) => readonly ImportTarget[];

interface ResolveParts {
  readonly tree: ProjectFiles;
  readonly engine: Engine;
  readonly signal: AbortSignal;
}

async function resolveImports(files: readonly InspectedFile[], parts: ResolveParts): Promise<ResolveImport> {
  const known = await throughFamilies(files, parts);
  const languages = new Map(files.map(({ file, record }) => [file.path, record.language]));
  return (path, source) => {
    const resolved = known.get(path)?.get(source) ?? [];
    if (resolved.length > 0) return resolved.map((name) => ({ name, isFile: true }));
    const origin = { path, language: languages.get(path) ?? '', has: parts.tree.exists };
    const name = resolveRelative(source, origin);
    if (name !== undefined) return [{ name, isFile: true }];
    // Leads to no file of the tree: the place it names is checked all the same.
    if (/^\.\.?(?:\/|$)/.test(source)) return [{ name: posix.join(posix.dirname(path), source), isFile: true }];
    return [{ name: source, isFile: false }];
  };
}

type Sources = ReadonlyMap<string, readonly string[]>;

async function throughFamilies(
  files: readonly InspectedFile[],
  { tree, engine, signal }: ResolveParts,
): Promise<ReadonlyMap<string, Sources>> {
  const known = new Map<string, Sources>();
  const families = new Set(files.flatMap(({ record }) => familyOf(record.language) ?? []));
  for (const family of families) {
    const project = await openScopeProject({ files: tree, engine, languages: family.languages, signal });
    const modules = family.create(project, tree);
    for (const { file, record } of files) {
      const scoped = family.languages.includes(record.language) ? project.file(file.path) : undefined;
      if (scoped === undefined) continue;
      known.set(file.path, new Map(modules.sourcesOf(scoped).map(({ source, paths }) => [source, paths])));
    }
  }
  return known;
}

const SETTINGS =
  /(?:^|\/)(?:[tj]sconfig[^/]*\.json|package\.json|go\.(?:mod|work)|Cargo\.toml|pyproject\.toml|setup\.(?:py|cfg))$/;
const MAX_NAMES = 1_000_000;
const MAX_LISTING_BYTES = 256 * 1024 * 1024;

type TreeContext = Pick<RuleContext, 'git' | 'workspace' | 'signal'>;

/**
 * The files imports can lead to: those of the tree that is checked. Resolvers ask for them one by one and at once, so what
 * they may read (the checked files, and what configures a project's names) is read beforehand.
 *
 * `judged` are the paths whose imports are asked about.
 */
async function readJudgedTree(
  changes: ChangeSet,
  context: TreeContext,
  judged: ReadonlySet<string>,
): Promise<ProjectFiles> {
  const isWanted = (path: string): boolean => judged.has(path) || SETTINGS.test(path);
  const { names, contents } =
    changes.tree === undefined
      ? await worktree(context, isWanted)
      : await gitTree(changes, { context, tree: changes.tree, isWanted });
  const all = new Set(names);
  return { exists: (path) => all.has(path), read: (path) => contents.get(path), list: () => names };
}

interface TreeReading {
  readonly names: readonly string[];
  readonly contents: ReadonlyMap<string, Uint8Array>;
}

async function gitTree(
  changes: ChangeSet,
  wanted: { readonly context: TreeContext; readonly tree: string; isWanted(path: string): boolean },
): Promise<TreeReading> {
  const { context, tree, isWanted } = wanted;
  const { stdout } = await context.git.run({
    words: ['ls-tree', '-r', '-z', '--full-tree', tree],
    access: 'read',
    maxBytes: MAX_LISTING_BYTES,
    signal: context.signal,
  });
  const files = stdout.toString('utf8').split('\0').flatMap(treeEntry);
  const contents = new Map<string, Uint8Array>();
  for await (const { file, bytes } of changes.contents(files.filter(({ path }) => isWanted(path)))) {
    contents.set(file.path, bytes);
  }
  return { names: files.map(({ path }) => path), contents };
}

/** `100644 blob <hash>\t<path>` */
function treeEntry(line: string): ChangedFile[] {
  const [, mode, blob, path] = /^(100\d{3}) blob ([0-9a-f]+)\t(.+)$/s.exec(line) ?? [];
  if (mode === undefined || blob === undefined || path === undefined) return [];
  return [{ path, kind: 'unchanged', mode, blob }];
}

async function worktree({ workspace, signal }: TreeContext, isWanted: (path: string) => boolean): Promise<TreeReading> {
  const query = { globs: [], includeHidden: false, includeIgnored: false, maxResults: MAX_NAMES, signal };
  const { paths } = await workspace.list(query);
  const contents = new Map<string, Uint8Array>();
  for (const path of paths) {
    if (!isWanted(path)) continue;
    try {
      contents.set(path, (await workspace.readFile(path, { signal })).bytes);
    } catch (thrown) {
      // Gone meanwhile, or not ours to read: then it leads nowhere either.
      if (!isToolError(thrown) || thrown.code !== 'E_FILE_IO') throw thrown;
    }
  }
  return { names: paths, contents };
}
