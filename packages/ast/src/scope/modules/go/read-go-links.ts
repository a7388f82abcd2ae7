/** The imports of one Go file, and what the keys of its literals can be. */
import type { Binding, FileScopes, Link, NameToken, TextRange } from '../../scope-model.ts';

/** `field` and `expression` are certain; otherwise the type of the literal, when it is written, decides. */
export type LiteralKey = 'field' | 'expression' | { readonly type: NameToken | undefined };

export interface GoImport extends TextRange {
  readonly source: string;
  /** Undefined: named like the package. */
  readonly local: NameToken | undefined;
}

export interface GoLinks {
  readonly imports: readonly GoImport[];
  readonly byBinding: ReadonlyMap<Binding, GoImport>;
  readonly dots: readonly GoImport[];
  readonly blanks: readonly GoImport[];
  readonly keys: ReadonlyMap<number, LiteralKey>;
  /** What a type of the file is, when its literals tell fields from expressions. */
  readonly types: ReadonlyMap<Binding, 'struct' | 'indexed'>;
  /** Starts of types that also name a field. */
  readonly embedded: ReadonlySet<number>;
}

export function readGoLinks(scopes: FileScopes): GoLinks {
  const imports = scopes.links.filter(({ form }) => form === 'import').map((link) => readImport(link, scopes));
  const byBinding = new Map<Binding, GoImport>();
  for (const one of imports) if (one.local?.binding !== undefined) byBinding.set(one.local.binding, one);
  const ofForm = (form: string) => scopes.links.filter((link) => link.form === form);
  return {
    imports,
    byBinding,
    dots: ofForm('dot').map((link) => readImport(link, scopes)),
    blanks: ofForm('blank').map((link) => readImport(link, scopes)),
    keys: readKeys(scopes),
    types: new Map([...typesOf(scopes, 'struct'), ...typesOf(scopes, 'indexed')]),
    embedded: new Set(ofForm('embedded').map(({ parts }) => parts.get('name')?.start ?? -1)),
  };
}

function readImport({ parts }: Link, scopes: FileScopes): GoImport {
  const { start, end } = parts.get('source') ?? { start: 0, end: 0 };
  const local = scopes.tokenAt(parts.get('local')?.start ?? -1);
  return { source: scopes.source.text.slice(start, end), local, start, end };
}

/** What is certain wins over a type, a type over nothing. */
function readKeys(scopes: FileScopes): Map<number, LiteralKey> {
  const keys = new Map<number, LiteralKey>();
  for (const { form, parts } of scopes.links) {
    const start = parts.get('name')?.start;
    if (!form.startsWith('key') || start === undefined) continue;
    const known = keys.get(start);
    const type = parts.get('type');
    if (form === 'key-field') keys.set(start, 'field');
    else if (form === 'key-expression') keys.set(start, 'expression');
    else if (known === undefined || (typeof known === 'object' && known.type === undefined)) {
      keys.set(start, { type: type && scopes.tokenFilling(type) });
    }
  }
  return keys;
}

function typesOf<Kind extends 'struct' | 'indexed'>(scopes: FileScopes, kind: Kind): [Binding, Kind][] {
  return scopes.links.flatMap(({ form, parts }) => {
    const binding = form === kind ? scopes.tokenAt(parts.get('name')?.start ?? -1)?.binding : undefined;
    return binding === undefined ? [] : [[binding, kind] as [Binding, Kind]];
  });
}
