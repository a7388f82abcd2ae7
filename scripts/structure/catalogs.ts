/** Every tool, rule, store, registry section and command is one file and one line in its catalog, with its test beside it. */
import path from 'node:path';
import { CATALOG_KINDS, type CatalogKind } from './catalog-kinds.ts';
import type { Finding } from './finding.ts';
import { resolveRelative } from './packages.ts';
import type { SourceFile, Tree } from './read-tree.ts';

const EXPORT_LINES =
  /^(?:\s*export\s*\{\s*(?:type\s+[\w$]+\s*,\s*)?[\w$]+(?:\s+as\s+[\w$]+)?\s*\}\s*from\s*(['"])\s*\1\s*;)*\s*$/;
const LOADER_LINES = /^(?:\s*export const [\w$]+ = \(\) => import\((['"])\s*\1\);)*\s*$/;

export function checkCatalogs(tree: Tree): Finding[] {
  return CATALOG_KINDS.flatMap((kind) => {
    const entries = entriesOf(tree, kind);
    const catalog = tree.source(kind.catalog);
    return [
      ...(catalog === undefined ? missingCatalog(kind, entries) : judgeCatalog(kind, catalog, entries)),
      ...entries.flatMap((file) => judgeEntry(tree, kind, file)),
    ];
  });
}

/** The literal a definition is known by: `name: 'file_read'` inside `defineTool(…)`. */
export function definedId(kind: CatalogKind, file: SourceFile): { id: string; offset: number } | undefined {
  if (kind.id === undefined) return undefined;
  const start = file.code.search(new RegExp(`\\b${kind.id.definer}\\s*(?:<[^(]*>)?\\(`));
  if (start < 0) return undefined;
  const property = new RegExp(`\\b${kind.id.property}\\s*:\\s*(?=['"])`).exec(file.code.slice(start));
  if (property === null) return undefined;
  const offset = start + property.index + property[0].length;
  const literal = file.strings.find((string) => string.offset === offset);
  return literal === undefined ? undefined : { id: literal.value, offset };
}

/** What must be listed: files in the right place, and whatever defines such a thing in a wrong one. */
export function entriesOf(tree: Tree, kind: CatalogKind): SourceFile[] {
  const folder = path.posix.dirname(kind.catalog);
  return tree.sources.filter((file) => {
    if (file.isTest || file.path === kind.catalog) return false;
    return (
      kind.entry?.test(file.path) === true ||
      (file.path.startsWith(`${folder}/`) && definedId(kind, file) !== undefined)
    );
  });
}

function missingCatalog(kind: CatalogKind, entries: readonly SourceFile[]): Finding[] {
  if (entries.length === 0) return [];
  return [fail(kind.catalog, `No catalog, but ${entries.length} ${kind.thing} files`, 'Create it, one line for each')];
}

function judgeCatalog(kind: CatalogKind, catalog: SourceFile, entries: readonly SourceFile[]): Finding[] {
  const listed = catalog.imports.map((link) => resolveRelative(catalog.path, link.specifier));
  const findings: Finding[] = [];
  if (!(kind.isLazy === true ? LOADER_LINES : EXPORT_LINES).test(catalog.code)) {
    const form = kind.isLazy === true ? 'export const one = () => import(…)' : 'export { one } from …';
    findings.push(fail(catalog.path, `A catalog holds only lines \`${form}\``, 'Move the rest elsewhere'));
  }
  for (const file of entries) {
    const times = listed.filter((target) => target === file.path).length;
    if (times === 1) continue;
    const next = `List it once in ${kind.catalog}; a part of a ${kind.thing} goes into a folder below`;
    findings.push(fail(file.path, `This ${kind.thing} stands ${times} times in its catalog`, next));
  }
  const known = new Set(entries.map((file) => file.path));
  for (const target of new Set(listed.filter((one) => !known.has(one)))) {
    findings.push(fail(catalog.path, `Listed, but no ${kind.thing} file: ${target}`, 'Correct or remove the line'));
  }
  return findings;
}

function judgeEntry(tree: Tree, kind: CatalogKind, file: SourceFile): Finding[] {
  const stem = path.posix.basename(file.path, '.ts');
  const findings: Finding[] = [];
  const tests = kind.tests ?? [file.path.replace(/\.ts$/, '.test.ts')];
  if (!tests.every((test) => tree.has(test))) {
    findings.push(fail(file.path, `No test beside this ${kind.thing}`, `Write ${stem}.test.ts`));
  }
  if (kind.id !== undefined) findings.push(...judgeId(kind, kind.id, file, stem));
  return findings;
}

function judgeId(kind: CatalogKind, rule: NonNullable<CatalogKind['id']>, file: SourceFile, stem: string): Finding[] {
  const defined = definedId(kind, file);
  if (defined === undefined) {
    const what = `No ${rule.definer}({ ${rule.property}: '…' }) in this ${kind.thing} file`;
    return [fail(file.path, what, `Define the ${kind.thing} here, or move the part into a folder below`)];
  }
  const wanted = rule.fileName(defined.id);
  return wanted === stem
    ? []
    : [
        {
          ...fail(file.path, `The ${kind.thing} ${defined.id} stands in ${stem}.ts`, `Rename the file to ${wanted}.ts`),
          line: file.lineAt(defined.offset),
        },
      ];
}

function fail(file: string, what: string, next: string): Finding {
  return { level: 'fail', check: 'catalogs', file, what, next };
}
