/**
 * Names across Python files. Every name at the top of a module is one of its names, imported ones too, so a rename goes
 * through every import that gives no other name. Keywords of a call belong to the parameters of what is called.
 */
import { posix } from 'node:path';
import { lookUp } from '../../look-up.ts';
import type {
  Meaning,
  ModuleFamily,
  ModuleSystem,
  NameRefusal,
  NewNameQuery,
  Reach,
  Specifier,
  Step,
} from '../../module-system.ts';
import type { ProjectFiles } from '../../scope-model.ts';
import { type Binding, type NameToken, type Scope, SPACES } from '../../scope-model.ts';
import type { ProjectFile, ScopeProject } from '../../scope-project.ts';
import { createPythonPaths, type PythonPaths } from './python-paths.ts';
import { type PythonFunction, type PythonImport, type PythonLinks, readPythonLinks } from './read-python-links.ts';

export const pythonModules: ModuleFamily = {
  languages: ['python'],
  hasModuleValues: true,
  followsImports: true,
  mergesStars: true,
  embeddedIn: ['.pyx', '.ipynb'],
  create: (project, files) => new PythonModules(project, files),
};

const UNKNOWN: Meaning = { steps: [] };
const EXTERNAL: Meaning = { steps: [], isExternal: true };
const UNCERTAIN: Meaning = { steps: [], isUncertain: true };

class PythonModules implements ModuleSystem {
  readonly #project: ScopeProject;
  readonly #paths: PythonPaths;
  readonly #links = new Map<string, PythonLinks>();
  readonly #open = new Set<string>();

  constructor(project: ScopeProject, files: ProjectFiles) {
    this.#project = project;
    this.#paths = createPythonPaths(files);
  }

  meaningOf(file: ProjectFile, token: NameToken): Meaning | undefined {
    if (token.binding !== undefined) return this.#ofBinding(file, token.binding);
    const { specifiers, keywords } = this.#linksOf(file);
    const specifier = specifiers.get(token.start);
    if (specifier !== undefined) return this.#imported(file, specifier.source, token.name);
    if (keywords.has(token.start)) return this.#keyword(file, keywords.get(token.start), token.name);
    if (token.role === 'member') return this.#member(file, token);
    return token.role === 'reference' ? this.#starred(file, token.scope, token.name) : undefined;
  }

  otherSideOf(file: ProjectFile, token: NameToken): Meaning | undefined {
    const specifier = this.#linksOf(file).specifiers.get(token.start);
    return specifier?.name === undefined ? undefined : this.#imported(file, specifier.source, token.name);
  }

  specifierOf(file: ProjectFile, token: NameToken): Specifier | undefined {
    const specifier = this.#linksOf(file).specifiers.get(token.start);
    return specifier && { kind: 'import', isAliased: specifier.isAliased };
  }

  /** A module and its stub declare the same names. */
  twinsOf(file: ProjectFile, binding: Binding): readonly Step[] {
    const own = step(file, binding);
    const other = file.path.endsWith('.pyi') ? file.path.slice(0, -1) : `${file.path}i`;
    const twin = binding.scope === file.scopes.scopes[0] ? this.#project.file(other) : undefined;
    const [declared] = twin?.scopes.scopes[0]?.bindings.get(binding.name) ?? [];
    return twin === undefined || declared === undefined ? [own] : [own, step(twin, declared)];
  }

  reachOf(file: ProjectFile, binding: Binding): Reach {
    if (binding.scope === file.scopes.scopes[0]) return { kind: 'project' };
    const owner = this.#ownerOf(file, binding);
    if (owner === undefined) return { kind: 'scope' };
    const around = owner.name.binding?.scope;
    const isConstructor = owner.name.name === '__init__' && around?.kind === 'class';
    // A function inside of a function is only called where it can be seen.
    if (around?.kind === 'function') return { kind: 'calls', names: [owner.name.name], within: file.path };
    return {
      kind: 'calls',
      names: isConstructor ? [owner.name.name, ...this.#classNames(file, around)] : [owner.name.name],
    };
  }

  isKeyword(file: ProjectFile, token: NameToken): boolean {
    return this.#linksOf(file).keywords.has(token.start);
  }

  isGlobal(): boolean {
    return false;
  }

  refusalOf(file: ProjectFile, binding: Binding): string | undefined {
    if (/^__.*__$/.test(binding.name)) return 'has a meaning of its own';
    if (binding.scope.kind === 'class') return 'is an attribute of a class';
    const links = this.#linksOf(file).imports.get(binding) ?? [];
    return links.some(({ isFirstPart }) => isFirstPart) ? 'is the name of a module' : undefined;
  }

  refusalOfName({ newName, uses }: NewNameQuery): NameRefusal | undefined {
    const hidden = newName.startsWith('_')
      ? uses.find(({ token, meaning }) => token.binding === undefined && meaning?.steps.some((one) => one.isStarred))
      : undefined;
    const why = `would not be imported any more by the star in ${hidden?.file.path}`;
    return hidden && { reason: 'visibility', why };
  }

  #slotOf(module: string, name: string): Meaning | undefined {
    const key = `${module}\0${name}`;
    // `from . import name` in the package itself: the module, not the name it is about to bind.
    if (this.#open.has(key)) return this.#submodule(module, name);
    this.#open.add(key);
    try {
      const file = this.#project.file(module);
      const scope = file?.scopes.scopes[0];
      const [binding] = scope?.bindings.get(name) ?? [];
      if (file !== undefined && binding !== undefined) return this.#ofBinding(file, binding);
      const starred = file && scope && this.#starred(file, scope, name);
      return starred ?? this.#submodule(module, name);
    } finally {
      this.#open.delete(key);
    }
  }

  #submodule(module: string, name: string): Meaning | undefined {
    const inside = this.#paths.inside(module, name);
    return inside === undefined ? undefined : { steps: [], module: inside };
  }

  sourcesOf(file: ProjectFile) {
    return this.#linksOf(file).sources.map((link) => {
      const module = this.#paths.resolve(file.path, link.source);
      const submodules = link.names.map((name) => module && this.#paths.inside(module, name));
      const paths = [module, ...submodules].filter((path) => path !== undefined);
      return { ...link, paths: paths.filter((path) => !path.endsWith('/')) };
    });
  }

  needlesOf({ path }: ProjectFile): readonly string[] {
    const stem = posix.basename(path).replace(/\.pyi?$/, '');
    // A package can be imported from inside by dots alone.
    return stem === '__init__' ? [posix.basename(posix.dirname(path)), 'from .'] : [stem];
  }

  #ofBinding(file: ProjectFile, binding: Binding): Meaning {
    const own = step(file, binding);
    const links = this.#linksOf(file).imports.get(binding) ?? [];
    if (links.length === 0) {
      // What a star brought in and the file assigns again is one name to its readers.
      const starred = this.#starredIn(file, new Set([binding.scope]), binding.name);
      return { steps: [own, ...(starred?.steps ?? [])] };
    }
    // Assigned as well, the name is still the imported one; from two places it is neither.
    const beyond = links.map((link) => this.#ofImport(file, link));
    const [first] = beyond;
    const isOne = beyond.every(
      (one) => one.steps.at(-1)?.binding === first?.steps.at(-1)?.binding && one.module === first?.module,
    );
    return first !== undefined && isOne ? { ...first, steps: [own, ...first.steps] } : { steps: [own] };
  }

  #ofImport(file: ProjectFile, { source, name, isFirstPart }: PythonImport): Meaning {
    if (name !== undefined) return this.#imported(file, source, name);
    const module = this.#paths.resolve(file.path, isFirstPart ? (source.split('.')[0] ?? '') : source);
    return module === undefined ? EXTERNAL : { steps: [], module };
  }

  #imported(file: ProjectFile, source: string, name: string): Meaning {
    const module = this.#paths.resolve(file.path, source);
    if (module !== undefined) return this.#slotOf(module, name) ?? UNKNOWN;
    return this.#paths.isUncertain(file.path, source) ? UNCERTAIN : EXTERNAL;
  }

  #member(file: ProjectFile, token: NameToken): Meaning | undefined {
    const object = token.object && this.meaningOf(file, token.object);
    if (object?.module !== undefined) return this.#slotOf(object.module, token.name) ?? UNKNOWN;
    return object?.isExternal === true ? EXTERNAL : undefined;
  }

  /** A name nothing in the file binds may come with `from module import *`. */
  #starred(file: ProjectFile, scope: Scope, name: string): Meaning | undefined {
    const around = new Set<Scope>();
    for (let one: Scope | undefined = scope; one !== undefined; one = one.parent) around.add(one);
    return this.#starredIn(file, around, name);
  }

  #starredIn(file: ProjectFile, scopes: ReadonlySet<Scope>, name: string): Meaning | undefined {
    for (const star of this.#linksOf(file).stars) {
      const module = scopes.has(star.scope) ? this.#paths.resolve(file.path, star.source) : undefined;
      const source = module === undefined ? undefined : this.#project.file(module);
      if (module === undefined || source === undefined) continue;
      const { all } = this.#linksOf(source);
      if (all === undefined ? name.startsWith('_') : !all.has(name)) continue;
      const meaning = this.#slotOf(module, name);
      if (meaning !== undefined) {
        return { ...meaning, steps: meaning.steps.map((one) => ({ ...one, isStarred: true })) };
      }
    }
    return undefined;
  }

  /** The parameter that a keyword names, when it is known what is called. */
  #keyword(file: ProjectFile, callee: NameToken | undefined, name: string): Meaning | undefined {
    const called = callee && this.meaningOf(file, callee)?.steps.at(-1);
    const home = called && this.#project.file(called.path);
    if (called === undefined || home === undefined) return undefined;
    const { functions, classes } = this.#linksOf(home);
    const body = classes.get(called.binding);
    const taker = functions.find(
      (one) =>
        one.name.binding === called.binding ||
        (body !== undefined && one.name.name === '__init__' && one.name.binding?.scope.start === body.start),
    );
    const parameter = taker && parameterOf(home, taker, name);
    return parameter && { steps: [step(home, parameter)] };
  }

  /** The function whose parameter it is, when a call could name it. */
  #ownerOf(file: ProjectFile, binding: Binding): PythonFunction | undefined {
    return this.#linksOf(file).functions.find((one) => parameterOf(file, one, binding.name) === binding);
  }

  #classNames(file: ProjectFile, scope: Scope): string[] {
    return [...this.#linksOf(file).classes].filter(([, body]) => body.start === scope.start).map(([{ name }]) => name);
  }

  #linksOf(file: ProjectFile): PythonLinks {
    const known = this.#links.get(file.path) ?? readPythonLinks(file.scopes);
    this.#links.set(file.path, known);
    return known;
  }
}

/** Not what takes the rest, nor what comes before a slash: no keyword reaches those. */
function parameterOf({ scopes }: ProjectFile, owner: PythonFunction, name: string): Binding | undefined {
  const { start, end } = owner.parameters;
  const binding = lookUp({ name, spaces: SPACES.any, scope: scopes.scopeAt(start), at: end });
  const token = binding?.definitions.find((one) => one.start > start && one.end < end);
  if (token === undefined || binding?.scope !== scopes.scopeAt(start)) return undefined;
  const { text } = scopes.source;
  const isRest = text.slice(start, token.start).trimEnd().endsWith('*');
  return isRest || /,\s*\/\s*[,)]/.test(text.slice(token.end, end)) ? undefined : binding;
}

function step(file: ProjectFile, binding: Binding): Step {
  return { path: file.path, binding, isStopped: false, isStarred: false };
}
