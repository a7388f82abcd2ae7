/**
 * Names across Rust files: modules in files and written out, paths, `use` trees and globs, crates of the workspace.
 *
 * A module is a scope of a file. What follows a type in a path belongs to the type, which scopes do not know.
 */
import { posix } from 'node:path';
import type { Meaning, ModuleFamily, ModuleSystem, Reach, Specifier, Step } from '../../module-system.ts';
import { type Binding, type NameToken, type ProjectFiles, type Scope, SPACES } from '../../scope-model.ts';
import type { ProjectFile, ScopeProject } from '../../scope-project.ts';
import { type RustLinks, type RustUse, readRustLinks } from './read-rust-links.ts';

export const rustModules: ModuleFamily = {
  languages: ['rust'],
  hasModuleValues: false,
  followsImports: true,
  mergesStars: false,
  embeddedIn: [],
  create: (project, files) => new RustModules(project, files),
};

/** A prelude's, a foreign crate's, or a type's own. */
const ELSEWHERE: Meaning = { steps: [] };
const UNCERTAIN: Meaning = { steps: [], isUncertain: true };
const ROOTS = new Set(['crate', '$crate']);

interface RustModule {
  readonly file: ProjectFile;
  readonly scope: Scope;
}

class RustModules implements ModuleSystem {
  readonly #project: ScopeProject;
  readonly #crates: RustCrates;
  readonly #links = new Map<string, RustLinks>();
  readonly #parents = new Map<string, RustModule | undefined>();
  readonly #open = new Set<string>();

  constructor(project: ScopeProject, files: ProjectFiles) {
    this.#project = project;
    this.#crates = createRustCrates(files);
  }

  meaningOf(file: ProjectFile, token: NameToken): Meaning | undefined {
    if (token.binding !== undefined) return this.#ofBinding(file, token.binding);
    const keyword = this.#keyword(file, token);
    if (keyword !== undefined) return keyword;
    if (token.object !== undefined) return this.#inPath(file, token);
    // A field, a method, or what a type written in brackets has.
    if (token.role === 'member' || token.isAccess) return ELSEWHERE;
    if (token.role === 'opaque') return token.spaces === 0 ? undefined : this.#globbed(file, token);
    return token.role === 'reference' ? (this.#globbed(file, token) ?? this.#crate(token.name)) : ELSEWHERE;
  }

  otherSideOf(file: ProjectFile, token: NameToken): Meaning | undefined {
    const use = this.#linksOf(file).byLocal.get(token.start);
    return use?.source === token ? this.#ofUse(file, use) : undefined;
  }

  specifierOf(file: ProjectFile, token: NameToken): Specifier | undefined {
    const use = this.#linksOf(file).byLocal.get(token.start);
    return use && { kind: 'import', isAliased: use.source !== token };
  }

  twinsOf(file: ProjectFile, binding: Binding): readonly Step[] {
    return [step(file, binding)];
  }

  reachOf(_file: ProjectFile, binding: Binding): Reach {
    return { kind: binding.scope.kind === 'module' && !binding.isLocal ? 'project' : 'scope' };
  }

  isKeyword(): boolean {
    return false;
  }

  isGlobal(): boolean {
    return false;
  }

  refusalOf(file: ProjectFile, binding: Binding): string | undefined {
    const { files, inline, crates } = this.#linksOf(file);
    if (files.has(binding) || inline.has(binding)) return 'is a module';
    if (crates.has(binding)) return 'is a crate';
    return (binding.spaces & ~SPACES.macro) === 0 ? 'is a macro' : undefined;
  }

  refusalOfName(): undefined {
    return undefined;
  }

  sourcesOf(file: ProjectFile) {
    const { byLocal, globs } = this.#linksOf(file);
    const uses = [...byLocal.values()].map(({ local, source }) => {
      const { steps, module } = this.#inPath(file, source) ?? ELSEWHERE;
      const home = steps.at(-1)?.path ?? (module === undefined ? undefined : pathOf(module));
      return { source: source.name, start: source.start, end: local.end, names: [source.name], home };
    });
    const stars = globs.map(({ source }) => {
      const module = this.meaningOf(file, source)?.module;
      const home = module === undefined ? undefined : pathOf(module);
      return { source: source.name, start: source.start, end: source.end, names: [], home };
    });
    return [...uses, ...stars].map(({ home, ...rest }) => ({ ...rest, paths: home === undefined ? [] : [home] }));
  }

  needlesOf({ path }: ProjectFile): readonly string[] {
    const stem = posix.basename(path, '.rs');
    if (stem === 'mod') return [posix.basename(posix.dirname(path)), 'super'];
    return stem === 'lib' || stem === 'main' ? ['use '] : [stem, 'super'];
  }

  #keyword(file: ProjectFile, token: NameToken): Meaning | undefined {
    const { name, object, scope } = token;
    if (ROOTS.has(name)) return asMeaning(this.#root(moduleAround(file, scope)));
    if (name === 'self' && object !== undefined) return this.meaningOf(file, object);
    if (name === 'self') return asMeaning(moduleAround(file, scope));
    if (name === 'super') {
      const inner = object === undefined ? moduleAround(file, scope) : this.#moduleOf(this.meaningOf(file, object));
      const parent = inner && this.#parent(inner);
      return parent === undefined ? UNCERTAIN : asMeaning(parent);
    }
    return name === 'Self' ? ELSEWHERE : undefined;
  }

  /** The last part of a path. */
  #inPath(file: ProjectFile, token: NameToken): Meaning | undefined {
    const keyword = this.#keyword(file, token);
    if (keyword !== undefined) return keyword;
    if (token.object === undefined) return this.#firstInPath(file, token);
    const before = this.meaningOf(file, token.object) ?? UNCERTAIN;
    const module = this.#moduleOf(before);
    if (module === undefined) return before.isUncertain === true ? UNCERTAIN : ELSEWHERE;
    return this.#slot(module, token.name, token.role === 'definition' ? SPACES.any : token.spaces) ?? ELSEWHERE;
  }

  /** `use name;` cannot mean the name it brings in. */
  #firstInPath(file: ProjectFile, token: NameToken): Meaning {
    if (token.role === 'definition') return this.#crate(token.name);
    return this.meaningOf(file, token) ?? ELSEWHERE;
  }

  #slot(module: RustModule, name: string, spaces: number): Meaning | undefined {
    const key = `${idOf(module)}\0${name}\0${spaces}`;
    if (this.#open.has(key)) return undefined;
    this.#open.add(key);
    try {
      const bindings = (module.scope.bindings.get(name) ?? []).filter((one) => !one.isLocal);
      const binding = bindings.find((one) => (one.spaces & spaces) !== 0);
      if (binding !== undefined) return this.#ofBinding(module.file, binding);
      return this.#globsOf(module.file, new Set([module.scope]), { name, spaces });
    } finally {
      this.#open.delete(key);
    }
  }

  #globbed(file: ProjectFile, { scope, name, spaces }: NameToken): Meaning | undefined {
    const around = new Set<Scope>();
    for (let one: Scope | undefined = scope; one !== undefined; one = one.parent) {
      around.add(one);
      if (one.barrier === 'all') break;
    }
    return this.#globsOf(file, around, { name, spaces });
  }

  #globsOf(
    file: ProjectFile,
    scopes: ReadonlySet<Scope>,
    { name, spaces }: { readonly name: string; readonly spaces: number },
  ): Meaning | undefined {
    for (const glob of this.#linksOf(file).globs) {
      const module = scopes.has(glob.scope) ? this.#moduleOf(this.meaningOf(file, glob.source)) : undefined;
      const meaning = module && this.#slot(module, name, spaces);
      if (meaning !== undefined) {
        return { ...meaning, steps: meaning.steps.map((one) => ({ ...one, isStarred: true })) };
      }
    }
    return undefined;
  }

  #crate(name: string): Meaning {
    const root = this.#crates.libraryOf(name);
    const file = root === undefined ? undefined : this.#project.file(root);
    return file === undefined ? ELSEWHERE : (asMeaning(topOf(file)) ?? ELSEWHERE);
  }

  #ofBinding(file: ProjectFile, binding: Binding): Meaning {
    const first = step(file, binding);
    const { uses, inline, files, crates } = this.#linksOf(file);
    const scope = inline.get(binding);
    if (scope !== undefined) return { steps: [first], module: idOf({ file, scope }) };
    const module = files.get(binding)?.candidates.find((path) => this.#project.file(path) !== undefined);
    if (module !== undefined) return { steps: [first], module: `${module}#0` };
    const crate = crates.get(binding);
    if (crate !== undefined) return { ...this.#crate(crate), steps: [first] };
    const [use, ...others] = uses.get(binding) ?? [];
    if (use === undefined || others.length > 0 || binding.definitions.length > 1) return { steps: [first] };
    const beyond = this.#ofUse(file, use);
    return { ...beyond, steps: [first, ...beyond.steps] };
  }

  #ofUse(file: ProjectFile, use: RustUse): Meaning {
    const key = `${file.path}\0${use.local.start}`;
    if (this.#open.has(key)) return ELSEWHERE;
    this.#open.add(key);
    try {
      return this.#inPath(file, use.source) ?? ELSEWHERE;
    } finally {
      this.#open.delete(key);
    }
  }

  #moduleOf(meaning: Meaning | undefined): RustModule | undefined {
    if (meaning?.module === undefined) return undefined;
    const file = this.#project.file(pathOf(meaning.module));
    const scope = file?.scopes.scopes[Number(meaning.module.slice(meaning.module.lastIndexOf('#') + 1))];
    return file && scope && { file, scope };
  }

  #root(module: RustModule): RustModule {
    let root = module;
    for (let parent = this.#parent(root); parent !== undefined; parent = this.#parent(root)) root = parent;
    return root;
  }

  #parent({ file, scope }: RustModule): RustModule | undefined {
    if (scope.parent !== undefined) return moduleAround(file, scope.parent);
    if (!this.#parents.has(file.path)) this.#parents.set(file.path, this.#findParent(file.path));
    return this.#parents.get(file.path);
  }

  /** The file that says `mod` for this one: by convention one of a few. */
  #findParent(path: string): RustModule | undefined {
    for (const candidate of parentCandidates(path)) {
      const file = candidate === path ? undefined : this.#project.file(candidate);
      if (file === undefined) continue;
      for (const { name, candidates } of this.#linksOf(file).files.values()) {
        if (candidates.find((one) => this.#project.files.exists(one)) === path) return moduleAround(file, name.scope);
      }
    }
    return undefined;
  }

  #linksOf(file: ProjectFile): RustLinks {
    const known = this.#links.get(file.path) ?? readRustLinks(file.path, file.scopes);
    this.#links.set(file.path, known);
    return known;
  }
}

/** Files beside and around, nearest first. */
function parentCandidates(path: string): string[] {
  const found: string[] = [];
  const start = posix.basename(path) === 'mod.rs' ? posix.dirname(posix.dirname(path)) : posix.dirname(path);
  for (let folder = start; ; folder = posix.dirname(folder)) {
    found.push(...['mod.rs', 'lib.rs', 'main.rs'].map((name) => posix.join(folder, name)));
    if (folder === '.') return found;
    found.push(`${folder}.rs`);
    // A folder of tests, examples or binaries: any file in it may be a root.
    if (posix.basename(folder) === 'src') return found;
  }
}

function moduleAround(file: ProjectFile, scope: Scope): RustModule {
  let around = scope;
  while (around.kind !== 'module' && around.parent !== undefined) around = around.parent;
  return { file, scope: around };
}

function topOf(file: ProjectFile): RustModule | undefined {
  const [scope] = file.scopes.scopes;
  return scope && { file, scope };
}

function asMeaning(module: RustModule | undefined): Meaning | undefined {
  return module && { steps: [], module: idOf(module) };
}

function idOf({ file, scope }: RustModule): string {
  return `${file.path}#${scope.index}`;
}

function pathOf(module: string): string {
  return module.slice(0, module.lastIndexOf('#'));
}

function step(file: ProjectFile, binding: Binding): Step {
  return { path: file.path, binding, isStopped: false, isStarred: false };
}

interface RustCrates {
  /** Root file of the library that other crates name like this. */
  libraryOf(name: string): string | undefined;
}

/** Crates of the workspace by the name that paths begin with. Reads only what it needs of Cargo.toml. */
function createRustCrates(files: ProjectFiles): RustCrates {
  const libraries = new Map<string, string>();
  for (const path of files.list()) {
    if (posix.basename(path) !== 'Cargo.toml') continue;
    const manifest = new TextDecoder().decode(files.read(path) ?? new Uint8Array());
    const name = tomlValue(manifest, 'lib', 'name') ?? tomlValue(manifest, 'package', 'name');
    const root = posix.join(posix.dirname(path), tomlValue(manifest, 'lib', 'path') ?? 'src/lib.rs');
    if (name !== undefined && files.exists(root)) libraries.set(name.replaceAll('-', '_'), root);
  }
  return { libraryOf: (name) => libraries.get(name) };
}

function tomlValue(manifest: string, table: string, key: string): string | undefined {
  const section = new RegExp(`^\\[${table}\\][^\\n]*\\n((?:(?!\\[)[^\\n]*\\n?)*)`, 'm').exec(manifest)?.[1];
  return new RegExp(`^\\s*${key}\\s*=\\s*"([^"\\n]*)"`, 'm').exec(section ?? '')?.[1];
}
