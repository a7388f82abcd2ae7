/** The layout of packed facts: a head, then rows of numbers for nodes, refs, imports and problems. */
import { NODE_TYPES, type NodeFact, type NodeType } from '../contracts/facts.ts';

/** Raised whenever packed bytes change their meaning: everything stored before is read anew. */
export const LAYOUT_VERSION = 3;

export const HEAD = { nodes: 0, refs: 1, imports: 2, problems: 3, problemCount: 4, flags: 5, length: 6 } as const;
export const FILE_FLAGS = { generated: 1, library: 2 } as const;

/** A string is two numbers: start and length in the text. */
export const NODE = {
  id: 0,
  rev: 2,
  name: 4,
  container: 6,
  subtype: 8,
  signature: 10,
  mark: 12,
  parent: 13,
  ordinal: 14,
  span: 15,
  fullSpan: 17,
  nameSpan: 19,
  bodySpan: 21,
  line: 23,
  col: 24,
  endLine: 25,
  endCol: 26,
  length: 27,
} as const;
export const REF = { name: 0, kind: 2, start: 3, line: 4, node: 5, length: 6 } as const;
export const IMPORT = { source: 0, name: 2, alias: 4, flags: 6, start: 7, line: 8, length: 9 } as const;
export const PROBLEM = { message: 0, kind: 2, span: 3, line: 5, col: 6, length: 7 } as const;

export const REF_KINDS = ['call', 'macro', 'new'] as const;
export const OPAQUE = 8;
export const IMPORT_FLAGS = { named: 1, aliased: 2, star: 4, typeOnly: 8, reexport: 16 } as const;
/** Start of a body that is not there. */
export const NONE = -1;

/** What queries filter by, in one number: the type's place in NODE_TYPES, then flags. */
export const MARK = { types: 31, exported: 32, hasDoc: 64, test: 128, trait: 256, ambiguous: 512 } as const;

const typePlaces: ReadonlyMap<string, number> = new Map(NODE_TYPES.map((type, place) => [type, place]));

export function placeOfType(type: string): number | undefined {
  return typePlaces.get(type);
}

export function typeOfMark(mark: number): NodeType {
  return NODE_TYPES[mark & MARK.types] ?? 'var';
}

export function markOf(node: NodeFact): number {
  let mark = typePlaces.get(node.type) ?? 0;
  if (node.exported) mark |= MARK.exported;
  if (node.hasDoc) mark |= MARK.hasDoc;
  if (node.test) mark |= MARK.test;
  if (node.subtype === 'trait') mark |= MARK.trait;
  if (node.ambiguous === true) mark |= MARK.ambiguous;
  return mark;
}
