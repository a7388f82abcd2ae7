/** Which files the imports of judged files lead to, by the rules of their language. */
import { posix } from 'node:path';
import { resolveRelative } from '../../index/find-importers.ts';
import type { InspectedFile } from '../../inspect/inspect-changes.ts';
import { familyOf } from '../../scope/modules/catalog.ts';
import type { ProjectFiles } from '../../scope/project-files.ts';
import { openScopeProject } from '../../scope/scope-project.ts';
import type { Engine } from '../../symbols/engine.ts';

export interface ImportTarget {
  readonly name: string;
  /** A file of the workspace; otherwise the text of the import, which names a package. */
  readonly isFile: boolean;
}

/** What the import of `source` in `path` means. */
export type ResolveImport = (path: string, source: string) => readonly ImportTarget[];

export interface ResolveParts {
  readonly tree: ProjectFiles;
  readonly engine: Engine;
  readonly signal: AbortSignal;
}

export async function resolveImports(files: readonly InspectedFile[], parts: ResolveParts): Promise<ResolveImport> {
  const known = await throughFamilies(files, parts);
  const languages = new Map(files.map(({ file, record }) => [file.path, record.language]));
  return (path, source) => {
    const resolved = known.get(path)?.get(source) ?? [];
    if (resolved.length > 0) return resolved.map((name) => ({ name, isFile: true }));
    const origin = { path, language: languages.get(path) ?? '', has: parts.tree.exists };
    const name = resolveRelative(source, origin);
    if (name !== undefined) return [{ name, isFile: true }];
    // Leads to no file of the tree: the place it names is judged all the same.
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
