/** Modules that load each other at start: the one loaded second sees the other half initialised. */
import type { Finding } from './finding.ts';
import { type PackageFacts, readPackages, resolveImport } from './packages.ts';
import type { SourceFile, Tree } from './read-tree.ts';

export function checkImportCycles(tree: Tree): Finding[] {
  const packages = readPackages(tree);
  const done = new Set<string>();
  const found = new Map<string, Finding>();
  for (const file of tree.sources) visit(file, []);
  return [...found.values()];

  function visit(file: SourceFile, trail: readonly string[]): void {
    const at = trail.indexOf(file.path);
    if (at >= 0) report(trail.slice(at));
    if (at >= 0 || done.has(file.path)) return;
    for (const next of loadedBy(tree, packages, file)) visit(next, [...trail, file.path]);
    done.add(file.path);
  }

  function report(cycle: readonly string[]): void {
    const start = cycle.indexOf([...cycle].sort()[0] ?? '');
    const turned = [...cycle.slice(start), ...cycle.slice(0, start)];
    found.set(turned.join(' '), {
      level: 'fail',
      check: 'import-cycles',
      file: turned[0] ?? '',
      what: `Import cycle: ${[...turned, turned[0]].join(' → ')}`,
      next: 'Move what both need into a third file, or import the type alone',
    });
  }
}

function loadedBy(tree: Tree, packages: ReadonlyMap<string, PackageFacts>, file: SourceFile): SourceFile[] {
  return file.imports.flatMap((link) => {
    const target = link.kind === 'value' ? resolveImport(tree, packages, file, link.specifier) : undefined;
    return target === undefined ? [] : [target];
  });
}
