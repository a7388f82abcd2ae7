/**
 * What a family of languages knows about names across files: imports, exports, packages.
 *
 * A token means a chain of bindings: its own, then, when that is an import, the one it was imported from, and so on to
 * where it is declared. Renaming any of them carries over to the token as long as every step keeps the name.
 */
import type { Binding, NameToken, ProjectFiles } from './scope-model.ts';
import type { ProjectFile, ScopeProject } from './scope-project.ts';

export interface Step {
  readonly path: string;
  readonly binding: Binding;
  /** Reached through a place that keeps the old name when this binding is renamed, such as `export { x } from`. */
  readonly isStopped: boolean;
  /** Reached through `import *` or `export *`. */
  readonly isStarred: boolean;
}

export interface Meaning {
  /** From the token outwards. Empty: known to be something that scopes do not know, such as an external name. */
  readonly steps: readonly Step[];
  /** The token means a whole module: what is read from it are the module's names. */
  readonly module?: string;
  /** From outside of the workspace, and so is everything reached through it. */
  readonly isExternal?: boolean;
  /** Imported from a place that could not be found, though it may well be in the workspace. */
  readonly isUncertain?: boolean;
}

/**
 * Where a binding can be meant: only in its scope, in the whole project, or in its scope and as a keyword of calls, in
 * files that contain one of the names of what is called.
 * With a `folder`, in its files only.
 */
export type Reach =
  | { readonly kind: 'scope' }
  | { readonly kind: 'project'; readonly folder?: string }
  | { readonly kind: 'calls'; readonly names: readonly string[]; readonly within?: string };

/** An imported or exported name in a list. */
export interface Specifier {
  readonly kind: 'import' | 'export';
  /** Another name follows: `x as y`. */
  readonly isAliased: boolean;
}

export interface ImportedSource {
  /** As written. */
  readonly source: string;
  readonly start: number;
  readonly end: number;
  /** Names that are imported from it one by one. */
  readonly names: readonly string[];
  /** Files it leads to; none for what lies outside of the workspace. */
  readonly paths: readonly string[];
}

export interface TokenUse {
  readonly file: ProjectFile;
  readonly token: NameToken;
  readonly meaning: Meaning | undefined;
}

export interface NameRefusal {
  readonly reason: 'visibility' | 'needs_server';
  /** Goes on after "the symbol". */
  readonly why: string;
}

export interface NewNameQuery {
  readonly file: ProjectFile;
  readonly binding: Binding;
  readonly newName: string;
  readonly uses: readonly TokenUse[];
}

/** Made for one project; keeps what it has worked out. */
export interface ModuleSystem {
  /** Undefined: not known. */
  meaningOf(file: ProjectFile, token: NameToken): Meaning | undefined;
  /**
   * Of a token that is two names in one, what the other one means: the property of `const { x } = module`, the name that
   * `import { x }` reads.
   */
  otherSideOf(file: ProjectFile, token: NameToken): Meaning | undefined;
  specifierOf(file: ProjectFile, token: NameToken): Specifier | undefined;
  /** All bindings that are one thing with this one: the same name declared once per platform. */
  twinsOf(file: ProjectFile, binding: Binding): readonly Step[];
  reachOf(file: ProjectFile, binding: Binding): Reach;
  /** Whether the token names a parameter in a call. */
  isKeyword(file: ProjectFile, token: NameToken): boolean;
  /** Whether the binding is a name without import in files other than its own. */
  isGlobal(file: ProjectFile, binding: Binding): boolean;
  /** Why scopes cannot say all about this binding; undefined when they can. */
  refusalOf(file: ProjectFile, binding: Binding): string | undefined;
  /** Why the new name must not be given though it is free; `uses` are all tokens to be renamed. */
  refusalOfName(query: NewNameQuery): NameRefusal | undefined;
  sourcesOf(file: ProjectFile): readonly ImportedSource[];
  /** A file that imports this one contains at least one of these texts. */
  needlesOf(file: ProjectFile): readonly string[];
}

export interface ModuleFamily {
  readonly languages: readonly string[];
  /** A module can be passed around as a value, so a member of an unknown object may be a module's. */
  readonly hasModuleValues: boolean;
  /** The import of a name is the name: renaming it there renames it everywhere. Otherwise it gets an alias. */
  readonly followsImports: boolean;
  /** A name that comes with a star and is declared in the file as well is one name, not two. */
  readonly mergesStars: boolean;
  /** How files end that hold code of the family among other text. */
  readonly embeddedIn: readonly string[];
  create(project: ScopeProject, files: ProjectFiles): ModuleSystem;
}
