/**
 * What one source file says about itself, as the engine gives it to the index: plain data that crosses processes.
 *
 * Offsets are UTF-8 byte offsets into the file on disk (a byte order mark counts); lines and columns start at 1, columns
 * count UTF-16 units.
 */

export interface ByteSpan {
  readonly start: number;
  readonly end: number;
}

/** The closed vocabulary of declarations. `trait` is stored as `interface` with the subtype `trait`. */
export const NODE_TYPES = [
  'fn',
  'method',
  'class',
  'struct',
  'enum',
  'variant',
  'interface',
  'impl',
  'type',
  'const',
  'var',
  'field',
  'module',
  'macro',
  'test',
  'key',
  'rule',
  'element',
] as const;
export type NodeType = (typeof NODE_TYPES)[number];

/** What else callers say for a type. */
export const TYPE_ALIASES = {
  function: 'fn',
  variable: 'var',
  constant: 'const',
  property: 'field',
  namespace: 'module',
} as const satisfies Readonly<Record<string, NodeType>>;

/** The words for types in a query. */
export const TYPE_WORDS = [
  'trait',
  ...NODE_TYPES,
  ...(Object.keys(TYPE_ALIASES) as (keyof typeof TYPE_ALIASES)[]),
] as const;

export interface NodeFact {
  /** "n" and twelve base62 characters: hash of path, type, container, name and ordinal. Survives edits elsewhere in the file. */
  readonly id: string;
  /** Hash of the declaration's text with line ends normalised: says whether the declaration itself changed. */
  readonly rev: string;
  readonly type: NodeType;
  readonly subtype?: string;
  readonly name: string;
  /** Names of the enclosing declarations, outermost first, joined by dots; empty at the top. */
  readonly container: string;
  /** Place of the enclosing declaration in `FileFacts.nodes`; -1 at the top. */
  readonly parent: number;
  /** Counts declarations with the same type, container and name, in file order, from 0. */
  readonly ordinal: number;
  /** Two or more twins (same type, container, name) changed at once: the id may name another one than before. */
  readonly ambiguous?: boolean;
  /** Declaration with its modifiers. */
  readonly span: ByteSpan;
  /** With doc comment, attributes and decorators. */
  readonly fullSpan: ByteSpan;
  readonly nameSpan: ByteSpan;
  readonly bodySpan?: ByteSpan;
  readonly line: number;
  readonly col: number;
  readonly endLine: number;
  readonly endCol: number;
  readonly exported: boolean;
  readonly hasDoc: boolean;
  /** Is test code: a test itself, inside one, or in a file of tests. */
  readonly test: boolean;
  /** Text from the declaration's start to its body, on one line, at most 300 characters. */
  readonly signature: string;
  /** Of a part of the file in another language. Not kept by the index. */
  readonly language?: string;
}

export interface RefFact {
  readonly kind: 'call' | 'macro' | 'new';
  readonly name: string;
  readonly start: number;
  readonly line: number;
  /** Place in `FileFacts.nodes` of the declaration that contains it; -1 outside. */
  readonly node: number;
  /** Found as text in a part the grammar does not look into, such as the arguments of a Rust macro. */
  readonly opaque?: boolean;
}

export interface ImportFact {
  /** As written, without quotes. */
  readonly source: string;
  /** Imported name; absent for a whole module or a side-effect import. */
  readonly name?: string;
  readonly alias?: string;
  readonly star?: boolean;
  readonly typeOnly?: boolean;
  /** `export … from` counts as an import too. */
  readonly reexport?: boolean;
  readonly start: number;
  readonly line: number;
}

export interface ProblemFact {
  readonly kind: 'error' | 'missing';
  readonly span: ByteSpan;
  readonly line: number;
  readonly col: number;
  /** For people: what was met, or what is missing. */
  readonly message: string;
}

export interface FileFacts {
  readonly language: string;
  readonly nodes: readonly NodeFact[];
  readonly refs: readonly RefFact[];
  readonly imports: readonly ImportFact[];
  /** At most 50; `problemCount` has them all. */
  readonly problems: readonly ProblemFact[];
  readonly problemCount: number;
  /** Says of itself that it is generated, or is vendored. */
  readonly generated: boolean;
  /** Library code by the language's rules (not an entry point, example, build script or test). */
  readonly library: boolean;
}

/** A container as answers spell it, whatever its language writes: `a::b` and `A\B` become `a.b` and `A.B`. */
export function dottedPath(written: string): string {
  return written.replaceAll(/::|\\/g, '.');
}
