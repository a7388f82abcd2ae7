/** Imports of the judged files that cross a boundary of the registry. */

import { posix } from 'node:path';
import type { JsonObject } from '@tool-runtime/protocol';
import type { RuleContext, Violation } from '@tool-runtime/sdk';
import { resolveRelative } from '../../index/find-importers.ts';
import type { ImportPlace } from '../../inspect/code-record.ts';
import { isIgnored } from '../../inspect/ignore-marks.ts';
import { type InspectedFile, inspectChanges } from '../../inspect/inspect-changes.ts';
import { MAX_VIOLATIONS, unjudged, withIgnored } from '../../inspect/judge-places.ts';
import type { UseServices } from '../../plugin/code-services.ts';
import { familyOf } from '../../scope/modules/catalog.ts';
import type { ProjectFiles } from '../../scope/project-files.ts';
import { openScopeProject } from '../../scope/scope-project.ts';
import type { Engine } from '../../symbols/engine.ts';
import type { ImportRule } from './import-rule.ts';
import { readJudgedTree } from './judged-tree.ts';

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

/** Which files the imports of judged files lead to, by the rules of their language. */
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
