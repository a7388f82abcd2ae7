/** The imports of one Python file, what its `__all__` lists, and which call gives which keyword to what. */
import type { Binding, FileScopes, Link, NameToken, Scope, TextRange } from '../../scope-model.ts';

export interface PythonImport {
  /** `a.b`, or with leading dots. */
  readonly source: string;
  /** Undefined: the module itself. */
  readonly name: string | undefined;
  /** `import a.b` binds `a`. */
  readonly isFirstPart: boolean;
}

export interface PythonFunction {
  readonly name: NameToken;
  readonly parameters: TextRange;
}

export interface PythonLinks {
  readonly imports: ReadonlyMap<Binding, readonly PythonImport[]>;
  /** By the start of the token that is the imported name. */
  readonly specifiers: ReadonlyMap<number, PythonImport & { readonly isAliased: boolean }>;
  readonly stars: readonly { readonly source: string; readonly scope: Scope }[];
  /** Undefined: everything without a leading underscore. */
  readonly all: ReadonlySet<string> | undefined;
  readonly functions: readonly PythonFunction[];
  /** Bodies of classes by their name. */
  readonly classes: ReadonlyMap<Binding, TextRange>;
  /** What is called, by the start of a keyword of the call; undefined when it is no plain name. */
  readonly keywords: ReadonlyMap<number, NameToken | undefined>;
  readonly sources: readonly (TextRange & { readonly source: string; readonly names: string[] })[];
}

interface Draft {
  readonly imports: Map<Binding, PythonImport[]>;
  readonly specifiers: Map<number, PythonImport & { readonly isAliased: boolean }>;
  readonly stars: { readonly source: string; readonly scope: Scope }[];
  readonly all: Set<string>;
  readonly functions: PythonFunction[];
  readonly classes: Map<Binding, TextRange>;
  readonly keywords: Map<number, NameToken | undefined>;
  readonly sources: Map<number, TextRange & { readonly source: string; readonly names: string[] }>;
}

export function readPythonLinks(scopes: FileScopes): PythonLinks {
  const draft: Draft = {
    imports: new Map(),
    specifiers: new Map(),
    stars: [],
    all: new Set(),
    functions: [],
    classes: new Map(),
    keywords: new Map(),
    sources: new Map(),
  };
  for (const link of scopes.links) readLink(link, scopes, draft);
  const hasAll = scopes.links.some(({ form }) => form === 'all');
  return { ...draft, all: hasAll ? draft.all : undefined, sources: [...draft.sources.values()] };
}

function readLink(link: Link, scopes: FileScopes, draft: Draft): void {
  const { form, parts } = link;
  const name = scopes.tokenAt(parts.get('name')?.start ?? -1);
  switch (form) {
    case 'module':
    case 'module-as':
    case 'from':
      addImport(link, scopes, draft);
      break;
    case 'star':
      draft.stars.push({ source: sourceOf(link, scopes), scope: link.scope });
      addSource(link, scopes, draft);
      break;
    case 'all':
      if (name !== undefined) draft.all.add(name.name);
      break;
    case 'function': {
      const parameters = parts.get('parameters');
      if (name !== undefined && parameters !== undefined) draft.functions.push({ name, parameters });
      break;
    }
    case 'class': {
      const body = parts.get('body');
      if (name?.binding !== undefined && body !== undefined) draft.classes.set(name.binding, body);
      break;
    }
    case 'keyword': {
      const callee = parts.get('callee');
      if (name !== undefined && callee !== undefined) draft.keywords.set(name.start, scopes.tokenFilling(callee));
      break;
    }
  }
}

function addImport(link: Link, scopes: FileScopes, draft: Draft): void {
  const { form, parts } = link;
  const local = scopes.tokenAt(parts.get('local')?.start ?? -1);
  const nameToken = scopes.tokenAt(parts.get('name')?.start ?? -1);
  if (local?.binding === undefined) return;
  const source = sourceOf(link, scopes);
  const made: PythonImport = {
    source,
    name: form === 'from' ? nameToken?.name : undefined,
    isFirstPart: form === 'module' && source.includes('.'),
  };
  draft.imports.set(local.binding, [...(draft.imports.get(local.binding) ?? []), made]);
  if (nameToken !== undefined) draft.specifiers.set(nameToken.start, { ...made, isAliased: nameToken !== local });
  else if (form === 'module' && !made.isFirstPart) draft.specifiers.set(local.start, { ...made, isAliased: false });
  addSource(link, scopes, draft);
}

function sourceOf({ parts }: Link, { source }: FileScopes): string {
  const range = parts.get('source');
  return range === undefined ? '' : source.text.slice(range.start, range.end).replace(/\s+/g, '');
}

function addSource(link: Link, scopes: FileScopes, { sources }: Draft): void {
  const range = link.parts.get('source') ?? link;
  const name = scopes.tokenAt(link.parts.get('name')?.start ?? -1)?.name;
  const known = sources.get(range.start) ?? { ...range, source: sourceOf(link, scopes), names: [] };
  if (name !== undefined) known.names.push(name);
  sources.set(range.start, known);
}
