/** Whether a declaration can be seen from outside its file, by the strategy of the language's profile. */
import type { NodeType } from '../contracts/facts.ts';
import { findOwners, firstFrom } from './extents.ts';
import type { NestedDeclaration } from './nest-declarations.ts';
import type { Policies } from './policies.ts';
import type { RawFacts, RawText } from './raw-facts.ts';

export interface ExportedInput {
  readonly raw: RawFacts;
  readonly nested: readonly NestedDeclaration[];
  readonly exportNames: ReadonlySet<string>;
  readonly policies: Policies;
}

/** What these hold is local to them. */
const CLOSED: ReadonlySet<NodeType> = new Set(['fn', 'method', 'test']);
const TYPES: ReadonlySet<NodeType> = new Set(['class', 'struct', 'enum', 'interface', 'type']);

/** Answers by place in `nested`; `attrs` are the texts of the declaration's attributes. */
export function createExportedDecision({ raw, nested, exportNames, policies }: ExportedInput) {
  const { exported: policy } = policies;
  const visibilities = raw.visibilities.toSorted((left, right) => left.start - right.start);
  const typeAt = new Map<string, number>();
  for (const [index, one] of nested.entries()) if (TYPES.has(one.type)) typeAt.set(pathOf(one), index);
  const hiddenNames = findHiddenNames(raw, nested);
  const decided = new Map<number, boolean>();

  function byStrategy(declaration: NestedDeclaration, words: readonly string[]): boolean {
    switch (policy.by) {
      case 'node':
        return words.some((word) => policy.match.test(word));
      case 'ancestor':
        return declaration.wrappers.some((wrapper) => wrapper.exports) || isListed(declaration);
      case 'case':
        return startsUpper(declaration.name) && declaration.container.split('.').every(startsUpper);
      case 'name':
        return isDecidedByList(declaration) ? isListed(declaration) : policy.match.test(declaration.name);
      case 'never':
        return false;
      case 'absent':
      case 'always':
        return true;
    }
  }

  function isDecidedByList({ parent }: NestedDeclaration): boolean {
    return parent === -1 && raw.exportLists.length > 0;
  }

  function isListed({ parent, name }: NestedDeclaration): boolean {
    return parent === -1 && exportNames.has(name);
  }

  /** The declaration it is a member of: around it, or the type its explicit container names. */
  function holderOf(declaration: NestedDeclaration): number {
    if (declaration.parent !== -1) return declaration.parent;
    return declaration.container === '' ? -1 : (typeAt.get(declaration.container) ?? -1);
  }

  function decide(index: number, attrs: readonly string[]): boolean {
    const declaration = nested[index];
    if (declaration === undefined) return false;
    if (declaration.type === 'impl') return typeIsExported(declaration);
    if (attrs.some((attr) => policy.attr.test(attr))) return true;
    const holder = holderOf(declaration);
    const around = nested[holder];
    if (around !== undefined && (CLOSED.has(around.type) || !isExported(holder))) return false;
    const words = wordsBeforeName(visibilities, declaration);
    const implied = declaration.visibility ?? declaration.section;
    if (implied !== undefined) words.push(implied);
    if (isHidden(declaration, words, around)) return false;
    return (around !== undefined && policy.inherit.has(around.type)) || byStrategy(declaration, words);
  }

  function isHidden(declaration: NestedDeclaration, words: readonly string[], around?: NestedDeclaration): boolean {
    const isMember = around !== undefined && TYPES.has(around.type);
    return (
      words.some((word) => policy.hidden.test(word) || (!isMember && policy.hiddenOutside.test(word))) ||
      policy.hiddenName.test(declaration.name) ||
      hiddenNames.has(`${declaration.parent} ${declaration.name}`)
    );
  }

  /** An implementation has no visibility of its own; a type of another file is taken for visible. */
  function typeIsExported(implementation: NestedDeclaration): boolean {
    const type = typeAt.get(pathOf(implementation));
    return type === undefined || isExported(type);
  }

  function isExported(index: number, attrs: readonly string[] = []): boolean {
    const known = decided.get(index) ?? decide(index, attrs);
    decided.set(index, known);
    return known;
  }

  return isExported;
}

/** Place of the declaration around, and name. */
function findHiddenNames({ hiddenNames }: RawFacts, nested: readonly NestedDeclaration[]): Set<string> {
  const sorted = hiddenNames.toSorted((left, right) => left.start - right.start);
  const starts = sorted.map((one) => one.start);
  const owners = findOwners(nested, starts);
  return new Set(sorted.map((one, index) => `${owners[index] ?? -1} ${one.text.replace(/^\W/, '')}`));
}

function pathOf({ container, name }: NestedDeclaration): string {
  return container === '' ? name : `${container}.${name}`;
}

function startsUpper(part: string): boolean {
  return part === '' || /^\p{Lu}/u.test(part);
}

/**
 * Single words joined to the declaration that contains them: visibility, accessor keywords.
 *
 * Those between its start and its name, and those before the first declaration of a wrapper. `sorted` by start.
 */
export function wordsBeforeName(sorted: readonly RawText[], declaration: NestedDeclaration): string[] {
  if (sorted.length === 0) return [];
  const own = wordsBetween(sorted, declaration.start, declaration.nameSpan.start);
  const outermost = declaration.wrappers.at(-1);
  return outermost === undefined ? own : [...wordsBetween(sorted, outermost.start, outermost.headEnd), ...own];
}

function wordsBetween(sorted: readonly RawText[], start: number, end: number): string[] {
  const words: string[] = [];
  for (let at = firstFrom(sorted, start); at < sorted.length; at++) {
    const one = sorted[at];
    if (one === undefined || one.start >= end) break;
    words.push(one.text);
  }
  return words;
}
