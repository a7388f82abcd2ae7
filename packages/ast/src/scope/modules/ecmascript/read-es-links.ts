/** The imports and exports of one ECMAScript or TypeScript file, by name. */
import { firstFrom } from '../../../symbols/extents.ts';
import type { Binding, FileScopes, Link, NameToken, TextRange } from '../../scope-model.ts';

export interface ImportLink {
  readonly source: string;
  /** Undefined: the whole module. */
  readonly name: string | undefined;
  /** `import x from`, as opposed to `import { default as x }`. */
  readonly isDefaultClause: boolean;
}

export type ExportLink =
  | { readonly kind: 'local'; readonly token: NameToken; readonly isListed: boolean }
  | { readonly kind: 'from'; readonly source: string; readonly name: string }
  | { readonly kind: 'module'; readonly source: string };

export interface SpecifierLink {
  readonly kind: 'import' | 'export';
  readonly isAliased: boolean;
  /** Where the name is read from; undefined for names of the file itself. */
  readonly source: string | undefined;
}

export interface SourceLink extends TextRange {
  readonly source: string;
  readonly names: string[];
}

export interface EsLinks {
  readonly imports: ReadonlyMap<Binding, readonly ImportLink[]>;
  readonly exports: ReadonlyMap<string, ExportLink>;
  readonly stars: readonly string[];
  /** By the start of the token that is the name. */
  readonly specifiers: ReadonlyMap<number, SpecifierLink>;
  /** Constants that hold what another token means. */
  readonly aliases: ReadonlyMap<Binding, NameToken>;
  readonly sources: readonly SourceLink[];
  /** Declarations at its top are seen by all other files. */
  readonly isScript: boolean;
}

interface Draft {
  readonly imports: Map<Binding, ImportLink[]>;
  readonly exports: Map<string, ExportLink>;
  readonly stars: string[];
  readonly specifiers: Map<number, SpecifierLink>;
  readonly aliases: Map<Binding, NameToken>;
  readonly sources: Map<number, SourceLink>;
  /** Starts of declarations exported as the default. */
  readonly defaults: ReadonlySet<number>;
}

/** Words that make a file without imports and exports a CommonJS module. */
const COMMON_JS: readonly string[] = ['require', 'module', 'exports'];

export function readEsLinks(scopes: FileScopes): EsLinks {
  const defaults = scopes.links.filter(({ form }) => form === 'default');
  const draft: Draft = {
    imports: new Map(),
    exports: new Map(),
    stars: [],
    specifiers: new Map(),
    aliases: new Map(),
    sources: new Map(),
    defaults: new Set(defaults.map(({ parts }) => parts.get('declaration')?.start ?? -1)),
  };
  for (const link of scopes.links) readLink(link, scopes, draft);
  const isModule = scopes.links.some(({ form }) => form !== 'alias' && form !== 'expression');
  const isCommon = COMMON_JS.some((word) => scopes.tokensNamed(word).some((token) => token.binding === undefined));
  return { ...draft, sources: [...draft.sources.values()], isScript: !isModule && !isCommon };
}

function readLink(link: Link, scopes: FileScopes, draft: Draft): void {
  const words = wordsOf(link, scopes);
  if (words.source !== undefined) addSource(link, words, draft);
  switch (link.form) {
    case 'import':
    case 'module':
      addImport(link, words, draft);
      break;
    case 'reexport':
    case 'export':
      addExport(words, draft, link.scope === scopes.scopes[0]);
      break;
    case 'reexport-module':
      if (words.alias !== undefined && words.source !== undefined) {
        draft.exports.set(words.alias, { kind: 'module', source: words.source });
      }
      break;
    case 'star':
      if (words.source !== undefined) draft.stars.push(words.source);
      break;
    case 'declare':
      addDeclared(link, scopes, draft);
      break;
    case 'default':
      addDefault(link, words, scopes, draft);
      break;
    case 'alias':
      addAlias(link, scopes, draft);
      break;
  }
}

interface Words {
  readonly source: string | undefined;
  readonly name: string | undefined;
  readonly alias: string | undefined;
  readonly nameToken: NameToken | undefined;
  readonly localToken: NameToken | undefined;
}

function wordsOf({ parts, name }: Link, scopes: FileScopes): Words {
  const text = (part: string) => {
    const range = parts.get(part);
    // A quoted name keeps its quotes in the tree.
    return range && scopes.source.text.slice(range.start, range.end).replace(/^(['"])(.*)\1$/s, '$2');
  };
  const token = (part: string) => scopes.tokenAt(parts.get(part)?.start ?? -1);
  return {
    source: text('source'),
    name: name ?? text('name'),
    alias: text('alias'),
    nameToken: token('name'),
    localToken: token('local'),
  };
}

function addSource(link: Link, { source = '', name }: Words, { sources }: Draft): void {
  const range = link.parts.get('source') ?? link;
  const known = sources.get(range.start);
  if (known === undefined) {
    sources.set(range.start, { source, start: range.start, end: range.end, names: name === undefined ? [] : [name] });
  } else if (name !== undefined) known.names.push(name);
}

function addImport({ form }: Link, words: Words, draft: Draft): void {
  const { source, name, nameToken, localToken } = words;
  if (source === undefined || localToken?.binding === undefined) return;
  const links = draft.imports.get(localToken.binding) ?? [];
  const isDefaultClause = name === 'default' && nameToken === undefined;
  draft.imports.set(localToken.binding, [
    ...links,
    { source, name: form === 'module' ? undefined : name, isDefaultClause },
  ]);
  if (nameToken === undefined) return;
  draft.specifiers.set(nameToken.start, { kind: 'import', isAliased: nameToken !== localToken, source });
}

/** The list of a namespace says what the namespace exports; the file exports nothing by it. */
function addExport({ source, name, alias, nameToken }: Words, draft: Draft, isAtTop: boolean): void {
  if (name === undefined) return;
  if (isAtTop && source !== undefined) draft.exports.set(alias ?? name, { kind: 'from', source, name });
  else if (isAtTop && nameToken !== undefined) {
    draft.exports.set(alias ?? name, { kind: 'local', token: nameToken, isListed: true });
  }
  if (nameToken === undefined) return;
  draft.specifiers.set(nameToken.start, { kind: 'export', isAliased: alias !== undefined, source });
}

/** Every name that a declaration binds at the top of the file. */
function addDeclared({ parts, scope }: Link, { tokens, scopes }: FileScopes, { exports, defaults }: Draft): void {
  const range = parts.get('declaration');
  if (range === undefined || scope !== scopes[0] || defaults.has(range.start)) return;
  for (let at = firstFrom(tokens, range.start); at < tokens.length; at++) {
    const token = tokens[at] as NameToken;
    if (token.end > range.end) break;
    if (token.role !== 'definition' || token.binding?.scope !== scope) continue;
    exports.set(token.name, { kind: 'local', token, isListed: false });
  }
}

function addDefault({ scope }: Link, { nameToken }: Words, { scopes }: FileScopes, { exports }: Draft): void {
  if (nameToken === undefined || scope !== scopes[0]) return;
  exports.set('default', { kind: 'local', token: nameToken, isListed: false });
}

function addAlias({ parts }: Link, scopes: FileScopes, { aliases }: Draft): void {
  const local = scopes.tokenAt(parts.get('local')?.start ?? -1);
  const range = parts.get('object');
  const object = range && scopes.tokenFilling(range);
  if (local?.binding?.definitions.length === 1 && object !== undefined) aliases.set(local.binding, object);
}
