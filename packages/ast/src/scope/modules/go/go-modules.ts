/**
 * Names across Go files. The files of a package share one scope without saying so; everything else is reached through
 * the name of an imported package.
 */
import { posix } from 'node:path';
import type {
  Meaning,
  ModuleFamily,
  ModuleSystem,
  NameRefusal,
  NewNameQuery,
  Reach,
  Step,
} from '../../module-system.ts';
import type { Binding, NameToken, ProjectFiles } from '../../scope-model.ts';
import type { ProjectFile, ScopeProject } from '../../scope-project.ts';
import { type GoImport, type GoLinks, readGoLinks } from './read-go-links.ts';

export const goModules: ModuleFamily = {
  languages: ['go'],
  hasModuleValues: false,
  followsImports: true,
  mergesStars: false,
  embeddedIn: [],
  create: (project, files) => new GoModules(project, files),
};

/** A field, a method, a builtin, or something of a package outside. */
const ELSEWHERE: Meaning = { steps: [] };
const UNCERTAIN: Meaning = { steps: [], isUncertain: true };
const EXPORTED = /^\p{Lu}/u;

class GoModules implements ModuleSystem {
  readonly #project: ScopeProject;
  readonly #packages: GoPackages;
  readonly #links = new Map<string, GoLinks>();
  readonly #mentions = new Map<string, ReadonlySet<string>>();

  constructor(project: ScopeProject, files: ProjectFiles) {
    this.#project = project;
    this.#packages = createGoPackages(files);
  }

  meaningOf(file: ProjectFile, token: NameToken): Meaning | undefined {
    const plain = this.#lexical(file, token);
    const key = this.#linksOf(file).keys.get(token.start);
    if (key === undefined || key === 'expression' || plain.steps.length === 0) return plain;
    const kind = key === 'field' ? 'struct' : this.#kindOf(file, key.type, token.name);
    if (kind === 'struct') return ELSEWHERE;
    return kind === 'indexed' ? plain : UNCERTAIN;
  }

  otherSideOf(): undefined {
    return undefined;
  }

  specifierOf(): undefined {
    return undefined;
  }

  twinsOf(file: ProjectFile, binding: Binding): readonly Step[] {
    if (binding.scope !== file.scopes.scopes[0] || this.#linksOf(file).byBinding.has(binding)) {
      return [step(file, binding)];
    }
    return this.#declared(posix.dirname(file.path), this.#packages.nameOf(file.path), binding.name);
  }

  reachOf(file: ProjectFile, binding: Binding): Reach {
    if (binding.scope !== file.scopes.scopes[0] || this.#linksOf(file).byBinding.has(binding)) return { kind: 'scope' };
    return EXPORTED.test(binding.name) ? { kind: 'project' } : { kind: 'project', folder: posix.dirname(file.path) };
  }

  isKeyword(): boolean {
    return false;
  }

  isGlobal(): boolean {
    return false;
  }

  refusalOf(file: ProjectFile, { name, scope }: Binding): string | undefined {
    const isTop = scope === file.scopes.scopes[0];
    return isTop && (name === 'init' || name === 'main') ? 'has a meaning of its own' : undefined;
  }

  refusalOfName({ file, binding, newName, uses }: NewNameQuery): NameRefusal | undefined {
    if (uses.some((use) => this.#linksOf(use.file).embedded.has(use.token.start))) {
      return { reason: 'needs_server', why: 'is embedded, so a field has its name too' };
    }
    const folder = posix.dirname(file.path);
    const name = this.#packages.nameOf(file.path);
    const isHidden = EXPORTED.test(binding.name) && !EXPORTED.test(newName);
    const outside = uses.find(
      ({ file: { path } }) => posix.dirname(path) !== folder || this.#packages.nameOf(path) !== name,
    );
    if (!isHidden || outside === undefined) return undefined;
    return { reason: 'visibility', why: `would not be visible any more in ${outside.file.path}` };
  }

  sourcesOf(file: ProjectFile) {
    const { imports, dots, blanks } = this.#linksOf(file);
    return [...imports, ...dots, ...blanks].map(({ source, start, end }) => {
      const folder = this.#packages.folderOf(source);
      const name = folder === undefined ? undefined : this.#packages.importedName(folder);
      const paths = folder === undefined || name === undefined ? [] : this.#packages.filesOf(folder, name);
      return { source, start, end, names: [], paths };
    });
  }

  needlesOf({ path }: ProjectFile): readonly string[] {
    return this.#packages.importPathsOf(posix.dirname(path));
  }

  #lexical(file: ProjectFile, token: NameToken): Meaning {
    if (token.binding !== undefined) {
      const link = this.#linksOf(file).byBinding.get(token.binding);
      const folder = link && this.#packages.folderOf(link.source);
      return { steps: [step(file, token.binding)], ...(folder === undefined ? {} : { module: folder }) };
    }
    if (token.role === 'member') return this.#member(file, token);
    return token.role === 'reference' ? this.#unbound(file, token.name) : ELSEWHERE;
  }

  #member(file: ProjectFile, { object, name }: NameToken): Meaning {
    const folder = object && this.meaningOf(file, object)?.module;
    const packageName = folder === undefined ? undefined : this.#packages.importedName(folder);
    if (folder === undefined || packageName === undefined) return ELSEWHERE;
    return { steps: this.#declared(folder, packageName, name) };
  }

  /** A package that is imported under its own name, a name of another file of the package, or of a dot import. */
  #unbound(file: ProjectFile, name: string): Meaning {
    const { imports, dots } = this.#linksOf(file);
    const link = imports.find((one) => one.local === undefined && this.#nameOfImport(one) === name);
    if (link !== undefined) {
      const module = this.#packages.folderOf(link.source);
      return module === undefined ? ELSEWHERE : { steps: [], module };
    }
    const steps = this.#declared(posix.dirname(file.path), this.#packages.nameOf(file.path), name);
    if (steps.length > 0) return { steps };
    for (const dot of dots) {
      const folder = this.#packages.folderOf(dot.source);
      const packageName = folder === undefined ? undefined : this.#packages.importedName(folder);
      const found = folder && packageName ? this.#declared(folder, packageName, name) : [];
      if (found.length > 0) return { steps: found.map((one) => ({ ...one, isStarred: true })) };
    }
    return ELSEWHERE;
  }

  #nameOfImport({ source }: GoImport): string | undefined {
    const folder = this.#packages.folderOf(source);
    if (folder !== undefined) return this.#packages.importedName(folder);
    // `…/v2` is a version; what comes before it is the usual name.
    const [last = '', before] = source.split('/').toReversed();
    return (/^v\d+$/.test(last) ? before : last)?.replace(/^go-|\.v\d+$|\.go$|-go$/g, '');
  }

  /** Every file of the package that declares the name at its top: one per platform is usual. */
  #declared(folder: string, packageName: string, name: string): Step[] {
    const mentions = this.#mentions.get(name) ?? new Set(this.#project.mentioning(name));
    this.#mentions.set(name, mentions);
    return this.#packages.filesOf(folder, packageName).flatMap((path) => {
      const file = mentions.has(path) ? this.#project.file(path) : undefined;
      const [binding] = file?.scopes.scopes[0]?.bindings.get(name) ?? [];
      const isDeclared = file && binding && !this.#linksOf(file).byBinding.has(binding);
      return isDeclared ? [step(file, binding)] : [];
    });
  }

  /** Whether keys in a literal of the type are fields. A key in small letters is no field of a type from elsewhere. */
  #kindOf(file: ProjectFile, type: NameToken | undefined, key: string): 'struct' | 'indexed' | undefined {
    if (type === undefined) return undefined;
    const steps = this.#lexical(file, type).steps;
    for (const { path, binding } of steps) {
      const home = this.#project.file(path);
      const kind = home && this.#linksOf(home).types.get(binding);
      if (kind !== undefined) return kind;
    }
    if (steps.length > 0 || type.object === undefined) return undefined;
    return EXPORTED.test(key) ? 'struct' : 'indexed';
  }

  #linksOf(file: ProjectFile): GoLinks {
    const known = this.#links.get(file.path) ?? readGoLinks(file.scopes);
    this.#links.set(file.path, known);
    return known;
  }
}

function step(file: ProjectFile, binding: Binding): Step {
  return { path: file.path, binding, isStopped: false, isStarred: false };
}

interface GoPackages {
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

/** Packages of Go: a folder is a package, and `go.mod` says what its import path begins with. */
function createGoPackages(files: ProjectFiles): GoPackages {
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
