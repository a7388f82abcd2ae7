/**
 * Names across files of ECMAScript and TypeScript.
 *
 * A name in an export list is a border: `export { x }` keeps offering `x` when the variable is renamed. Every other
 * way leads on: imports, `export *`, members of a namespace import, `import()` and `require` with a literal.
 */
import type { Meaning, ModuleFamily, ModuleSystem, Reach, Step } from '../../module-system.ts';
import type { Binding, NameToken, ProjectFiles } from '../../scope-model.ts';
import type { ProjectFile, ScopeProject } from '../../scope-project.ts';
import { createSpecifierResolver, type SpecifierResolver } from './es-specifiers.ts';
import { type EsLinks, type ExportLink, readEsLinks } from './read-es-links.ts';

export const esModules: ModuleFamily = {
  languages: ['typescript', 'tsx', 'javascript'],
  hasModuleValues: true,
  followsImports: false,
  mergesStars: false,
  embeddedIn: ['.vue', '.svelte', '.astro', '.mdx'],
  create: (project, files) => new EsModules(project, files),
};

const UNKNOWN: Meaning = { steps: [] };
const EXTERNAL: Meaning = { steps: [], isExternal: true };
const UNCERTAIN: Meaning = { steps: [], isUncertain: true };

class EsModules implements ModuleSystem {
  readonly #project: ScopeProject;
  readonly #resolver: SpecifierResolver;
  readonly #links = new Map<string, EsLinks>();
  /** Slots being worked out: a cycle of `export *` finds nothing further. */
  readonly #open = new Set<string>();

  constructor(project: ScopeProject, files: ProjectFiles) {
    this.#project = project;
    this.#resolver = createSpecifierResolver(files);
  }

  meaningOf(file: ProjectFile, token: NameToken): Meaning | undefined {
    if (token.moduleSource !== undefined) return this.#module(file, token.moduleSource);
    if (token.binding !== undefined) return this.#ofBinding(file, token.binding);
    const specifier = this.#linksOf(file).specifiers.get(token.start);
    if (specifier?.source !== undefined) return this.#imported(file, specifier.source, token.name);
    return token.role === 'member' ? this.#member(file, token) : undefined;
  }

  otherSideOf(file: ProjectFile, token: NameToken): Meaning | undefined {
    const specifier = this.#linksOf(file).specifiers.get(token.start);
    if (specifier?.source !== undefined) return this.#imported(file, specifier.source, token.name);
    return token.shorthand === 'pattern' ? this.#member(file, token) : undefined;
  }

  #member(file: ProjectFile, token: NameToken): Meaning | undefined {
    const object = token.object && this.meaningOf(file, token.object);
    if (object?.module !== undefined) return this.#slotOf(object.module, token.name) ?? UNKNOWN;
    return object?.isExternal === true ? EXTERNAL : undefined;
  }

  specifierOf(file: ProjectFile, token: NameToken) {
    return this.#linksOf(file).specifiers.get(token.start);
  }

  twinsOf(file: ProjectFile, binding: Binding): readonly Step[] {
    return [own(file, binding)];
  }

  reachOf(file: ProjectFile, binding: Binding): Reach {
    const isExported = [...this.#linksOf(file).exports.values()].some(
      (link) => link.kind === 'local' && link.token.binding === binding,
    );
    return { kind: isExported || this.isGlobal(file, binding) ? 'project' : 'scope' };
  }

  isKeyword(): boolean {
    return false;
  }

  isGlobal(file: ProjectFile, binding: Binding): boolean {
    return binding.scope === file.scopes.scopes[0] && this.#linksOf(file).isScript;
  }

  refusalOf(file: ProjectFile, binding: Binding): string | undefined {
    if (binding.isMember) return 'is also a property';
    if (binding.scope.kind === 'ambient') return 'is declared for another module';
    if (binding.scope.kind !== 'namespace') return undefined;
    const [first] = binding.definitions;
    const isExported = file.scopes.links.some(({ form, parts }) => {
      const range = form === 'declare' ? parts.get('declaration') : undefined;
      return range !== undefined && first !== undefined && range.start <= first.start && first.end <= range.end;
    });
    return isExported ? 'is a member of a namespace' : undefined;
  }

  refusalOfName(): undefined {
    return undefined;
  }

  #slotOf(path: string, name: string): Meaning | undefined {
    const file = this.#project.file(path);
    const key = `${path}\0${name}`;
    if (file === undefined || this.#open.has(key)) return undefined;
    this.#open.add(key);
    try {
      const { exports, stars } = this.#linksOf(file);
      const link = exports.get(name);
      if (link !== undefined) return this.#exported(file, link);
      return name === 'default' ? undefined : this.#starred(file, stars, name);
    } finally {
      this.#open.delete(key);
    }
  }

  sourcesOf(file: ProjectFile) {
    return this.#linksOf(file).sources.map((link) => {
      const path = this.#resolver.resolve(file.path, link.source);
      return { ...link, paths: path === undefined ? [] : [path] };
    });
  }

  needlesOf({ path }: ProjectFile): readonly string[] {
    return this.#resolver.needlesOf(path);
  }

  #exported(file: ProjectFile, link: ExportLink): Meaning | undefined {
    if (link.kind === 'module') return this.#module(file, link.source);
    if (link.kind === 'from') return stopped(this.#imported(file, link.source, link.name));
    const meaning = this.meaningOf(file, link.token);
    return link.isListed ? stopped(meaning) : meaning;
  }

  #starred(file: ProjectFile, stars: readonly string[], name: string): Meaning | undefined {
    for (const source of stars) {
      const path = this.#resolver.resolve(file.path, source);
      const meaning = path === undefined ? undefined : this.#slotOf(path, name);
      if (meaning !== undefined) {
        return { ...meaning, steps: meaning.steps.map((step) => ({ ...step, isStarred: true })) };
      }
    }
    return undefined;
  }

  #ofBinding(file: ProjectFile, binding: Binding): Meaning {
    const { imports, aliases } = this.#linksOf(file);
    const first = own(file, binding);
    const [link, ...others] = imports.get(binding) ?? [];
    if (link === undefined) {
      const module = aliases.has(binding) ? this.#aliased(file, aliases.get(binding)) : undefined;
      return { steps: [first], ...(module === undefined ? {} : { module }) };
    }
    // Merged with a declaration of the file, or imported twice: what it means depends on the use.
    if (others.length > 0 || binding.definitions.length > 1) return { steps: [first] };
    if (link.name === undefined) return { ...this.#module(file, link.source), steps: [first] };
    const beyond = this.#imported(file, link.source, link.name);
    const isBorder = link.name === 'default' && !link.isDefaultClause;
    const steps = (isBorder ? stopped(beyond) : beyond)?.steps ?? [];
    return { ...beyond, steps: [first, ...steps] };
  }

  #aliased(file: ProjectFile, object: NameToken | undefined): string | undefined {
    const key = `${file.path}\0${object?.start}`;
    if (object === undefined || this.#open.has(key)) return undefined;
    this.#open.add(key);
    try {
      return this.meaningOf(file, object)?.module;
    } finally {
      this.#open.delete(key);
    }
  }

  #imported(file: ProjectFile, source: string, name: string): Meaning {
    const path = this.#resolver.resolve(file.path, source);
    if (path !== undefined) return this.#slotOf(path, name) ?? UNKNOWN;
    return this.#resolver.isUncertain(file.path, source) ? UNCERTAIN : EXTERNAL;
  }

  #module(file: ProjectFile, source: string): Meaning {
    const path = this.#resolver.resolve(file.path, source);
    return path === undefined ? EXTERNAL : { steps: [], module: path };
  }

  #linksOf(file: ProjectFile): EsLinks {
    const known = this.#links.get(file.path) ?? readEsLinks(file.scopes);
    this.#links.set(file.path, known);
    return known;
  }
}

function own(file: ProjectFile, binding: Binding): Step {
  return { path: file.path, binding, isStopped: false, isStarred: false };
}

/** What a name refers to that stays when the variable is renamed. */
function stopped(meaning: Meaning | undefined): Meaning | undefined {
  return meaning && { ...meaning, steps: meaning.steps.map((step) => ({ ...step, isStopped: true })) };
}
