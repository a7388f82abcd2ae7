/**
 * What is known about the names of one file: its scopes, what they bind, and every token that is a name.
 *
 * All offsets are UTF-16 units of `source.text`, as the parser counts them; `source.toByte` leads to bytes.
 */
import type { SourceText } from '../parse/source-text.ts';

/** Languages keep some names apart: a type and a variable of the same name do not meet. One bit for each kind. */
export const SPACES = { value: 1, type: 2, namespace: 4, macro: 8, any: 15 } as const;

export interface TextRange {
  readonly start: number;
  readonly end: number;
}

export interface Scope extends TextRange {
  readonly index: number;
  /** `module`, `function`, `block`, `class`, or a kind of the language's own that a definition names as its place. */
  readonly kind: string;
  /** Where a name is looked for next. */
  readonly parent: Scope | undefined;
  /** What cannot be seen from inside: `locals` of enclosing functions, or `all`. */
  readonly barrier: 'locals' | 'all' | undefined;
  readonly bindings: ReadonlyMap<string, readonly Binding[]>;
  /** Names that the scope declares to belong elsewhere. */
  readonly redirects: ReadonlyMap<string, 'global' | 'nonlocal'>;
}

export interface Binding {
  readonly name: string;
  readonly scope: Scope;
  readonly spaces: number;
  /** In file order. */
  readonly definitions: readonly NameToken[];
  /** Variables and parameters, as opposed to items: hidden by the barrier `locals`. */
  readonly isLocal: boolean;
  /** Also reached as a member of something: an enum's variant, a parameter that is a property. */
  readonly isMember: boolean;
  /** May be hidden by a later binding of the same name in the same scope. */
  readonly canBeShadowed: boolean;
  /** Where it can be seen; the whole scope unless the language binds from a statement on. */
  readonly from: number;
  readonly to: number;
}

/**
 * `definition` and `reference` are lexical, resolved by scope. `member` is reached through an object. `opaque` is in
 * text the grammar does not look into. `other` names nothing that scopes know: labels, keywords of a call, module paths.
 */
export type TokenRole = 'definition' | 'reference' | 'member' | 'opaque' | 'other';

export interface NameToken extends TextRange {
  readonly name: string;
  readonly role: TokenRole;
  /** None: the text around it may give it a meaning of its own. */
  readonly spaces: number;
  readonly scope: Scope;
  readonly binding: Binding | undefined;
  /** Of a member: what it is reached through, when that is a name or means a module. */
  readonly object: NameToken | undefined;
  /** A member that is read, not declared; its object may be unknown. */
  readonly isAccess: boolean;
  /** One token for a property and a variable: `{ x }`. */
  readonly shorthand: 'value' | 'pattern' | undefined;
  /** The text of a string is the name. */
  readonly isString: boolean;
  /** Stands for a whole module, such as `import('./a')`: the text that names it. No name of its own. */
  readonly moduleSource: string | undefined;
}

/** Part of an import or export, as the language's query names it; read by the module system of the language. */
export interface Link extends TextRange {
  readonly form: string;
  /** Set by the pattern: `default` for a default import. */
  readonly name: string | undefined;
  readonly parts: ReadonlyMap<string, TextRange>;
  readonly scope: Scope;
}

export interface TextPart extends TextRange {
  readonly kind: 'string' | 'comment';
}

export interface FileScopes {
  readonly source: SourceText;
  readonly language: string;
  /** The first is the file's own. */
  readonly scopes: readonly Scope[];
  /** In file order. */
  readonly tokens: readonly NameToken[];
  readonly links: readonly Link[];
  /** Strings and comments. */
  readonly texts: readonly TextPart[];
  /** A character that can be part of a name. */
  readonly nameCharacter: RegExp;
  /** Names of one space stay apart from those of another, even in the same scope. */
  readonly isApart: boolean;
  tokenAt(start: number): NameToken | undefined;
  /** The last token of a chain of members that is all of the range: `c` of `a.b.c`. */
  tokenFilling(range: TextRange): NameToken | undefined;
  tokensNamed(name: string): readonly NameToken[];
  scopeAt(offset: number): Scope;
}

/** The files of a workspace as the resolver sees them. Nothing outside of it exists. */
export interface ProjectFiles {
  exists(path: string): boolean;
  read(path: string): Uint8Array | undefined;
  /** Every file, workspace-relative with forward slashes. */
  list(): readonly string[];
}
