/** Packages import downhill, by name and through declared entries only; whatever else they use is in their manifest. */
import { isBuiltin } from 'node:module';
import type { ImportLink } from './find-imports.ts';
import type { Finding } from './finding.ts';
import { bareName, type PackageFacts, packageOf, readPackages, resolveRelative, SCOPE } from './packages.ts';
import type { SourceFile, Tree } from './read-tree.ts';

/** Own packages each package may import. */
const MAY_IMPORT: Readonly<Record<string, readonly string[]>> = {
  protocol: [],
  sdk: ['protocol'],
  ast: ['protocol', 'sdk'],
  fleet: ['protocol', 'sdk'],
  host: ['protocol', 'sdk', 'ast', 'fleet'],
  adapters: ['protocol', 'sdk'],
  conformance: ['protocol'],
  console: ['protocol'],
};

/** Runs in browsers: nothing from Node, no dependency but this. */
const PROTOCOL_DEPENDENCIES: readonly string[] = ['zod'];

export function checkPackageBorders(tree: Tree): Finding[] {
  const packages = readPackages(tree);
  return tree.sources.flatMap((file) =>
    file.imports.flatMap((link) => {
      const problem = judge(packages, file, link.specifier);
      return problem === undefined ? [] : [toFinding(file, link, problem)];
    }),
  );
}

interface Problem {
  readonly what: string;
  readonly next: string;
}

function judge(packages: ReadonlyMap<string, PackageFacts>, file: SourceFile, specifier: string): Problem | undefined {
  const home = packageOf(file.path);
  if (specifier.startsWith('.')) return judgeRelative(home, file.path, specifier);
  if (specifier.startsWith(SCOPE)) return judgeOwn(packages, home, file, specifier);
  const facts = home === undefined ? undefined : packages.get(home);
  return facts === undefined ? undefined : judgeForeign(facts, file, specifier);
}

function judgeRelative(home: string | undefined, from: string, specifier: string): Problem | undefined {
  const target = resolveRelative(from, specifier);
  if (home !== undefined && !target.startsWith(`packages/${home}/`)) {
    return { what: `A relative import leaves the package: ${specifier}`, next: `Import it by name (${SCOPE}…)` };
  }
  if (from.startsWith('examples/') && target.startsWith('packages/')) {
    return { what: `An example reaches into a package: ${specifier}`, next: 'Use the public entry, as a reader would' };
  }
  return undefined;
}

function judgeOwn(
  packages: ReadonlyMap<string, PackageFacts>,
  home: string | undefined,
  file: SourceFile,
  specifier: string,
): Problem | undefined {
  const [name = '', ...rest] = specifier.slice(SCOPE.length).split('/');
  const facts = packages.get(name);
  if (facts === undefined) return { what: `No such package: ${specifier}`, next: 'Correct the name' };
  if (!facts.entries.has(['.', ...rest].join('/'))) {
    return { what: `Deep import: ${specifier}`, next: `Export it from an entry of packages/${name}/package.json` };
  }
  if (home === undefined) return undefined;
  const allowed = MAY_IMPORT[home] ?? [];
  if (allowed.includes(name) || (home === name && isOutsideSource(file))) return undefined;
  const list = allowed.length === 0 ? 'none of our packages' : allowed.join(', ');
  return { what: `${home} imports ${specifier}`, next: `${home} may import ${list}; move the code or turn the import` };
}

function judgeForeign(facts: PackageFacts, file: SourceFile, specifier: string): Problem | undefined {
  const name = bareName(specifier);
  if (isOutsideSource(file)) {
    const known = isBuiltin(specifier) || facts.dependencies.has(name) || facts.devDependencies.has(name);
    return known ? undefined : { what: `Not in any manifest: ${specifier}`, next: 'Use what is installed' };
  }
  if (facts.name === 'protocol') {
    if (PROTOCOL_DEPENDENCIES.includes(name)) return undefined;
    return { what: `protocol imports ${specifier}`, next: 'protocol runs in browsers and depends on zod alone' };
  }
  if (isBuiltin(specifier) || facts.dependencies.has(name)) return undefined;
  return {
    what: `Not a dependency of ${facts.name}: ${specifier}`,
    next: 'Use a listed one, or list it with a record',
  };
}

function isOutsideSource(file: SourceFile): boolean {
  return file.isTest || !/^packages\/[^/]+\/src\//.test(file.path);
}

function toFinding(file: SourceFile, link: ImportLink, problem: Problem): Finding {
  return { level: 'fail', check: 'package-borders', file: file.path, line: file.lineAt(link.offset), ...problem };
}
