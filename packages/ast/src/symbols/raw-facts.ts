/** What the symbols query found, before it is put in order. All offsets are UTF-16 units. */

export interface Extent {
  readonly start: number;
  readonly end: number;
}

export interface RawDeclaration extends Extent {
  /** Of the pattern that found it: the earlier of two wins. */
  readonly pattern: number;
  /** Behind `def.`, so `trait` is still possible. */
  readonly type: string;
  readonly subtype: string | undefined;
  readonly name: string;
  readonly nameSpan: Extent;
  readonly body: Extent | undefined;
  /** Where the signature ends when no body does it. */
  readonly headEnd: number | undefined;
  /** Explicit container, as written. */
  readonly container: string | undefined;
  /** What the pattern itself says about visibility; it replaces the section. */
  readonly visibility: string | undefined;
  /** Of several names for the same node only one counts. */
  readonly isSingle: boolean;
  /** Only what looks like it inside a function. */
  readonly isOutsideOnly: boolean;
  /** Reaches to the next declaration of its pattern, or to the end of the file. */
  readonly isForRest: boolean;
}

/** A node around a declaration that belongs to it when it holds no other: `export`, `declare`, `const …;`. */
export interface RawWrapper extends Extent {
  readonly exports: boolean;
  /** What a `var` directly in it is instead. */
  readonly type: string | undefined;
  /** How many declarations are directly in it, and where the first begins: known when all have found their place. */
  holds: number;
  headEnd: number;
}

export interface RawText extends Extent {
  readonly text: string;
}

/** A comment or attribute: what may come before a declaration and belong to it. */
export interface RawPrelude extends Extent {
  readonly kind: 'comment' | 'attr';
}

export interface RawRef extends Extent {
  readonly kind: 'call' | 'macro' | 'new';
  readonly name: string;
  readonly opaque: boolean;
}

/** What one pattern says about an import; the parts that others say about the same one are joined by position. */
export interface RawImport extends Extent {
  /** Absent in a part. */
  readonly source: string | undefined;
  readonly name: string | undefined;
  readonly alias: string | undefined;
  readonly star: boolean;
  readonly typeOnly: boolean;
  readonly reexport: boolean;
  /** The whole import expression, still to be taken apart. */
  readonly tree: string | undefined;
}

/** Code of another language. */
export interface EmbeddedPart extends Extent {
  readonly language: string;
}

export interface RawFacts {
  readonly declarations: RawDeclaration[];
  readonly wrappers: RawWrapper[];
  /** What is declared directly in one belongs to what is around the declaration that holds it. */
  readonly lifts: Extent[];
  /** Bodies whose variables are not visible outside. */
  readonly locals: Extent[];
  readonly preludes: RawPrelude[];
  readonly docstrings: Extent[];
  readonly visibilities: RawText[];
  readonly subtypes: RawText[];
  readonly sections: RawText[];
  /** Names hidden by a statement of their own, in the declaration that contains it. */
  readonly hiddenNames: RawText[];
  readonly exportNames: RawText[];
  /** Statements by which the file says itself, and completely, what it exports. */
  readonly exportLists: RawText[];
  readonly refs: RawRef[];
  readonly imports: RawImport[];
  readonly parts: EmbeddedPart[];
}
