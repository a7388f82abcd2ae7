/** Decides what a declaration's extent is, and what it is: exported, documented, a test. Parents come before children. */
import type { NodeType } from '../contracts/facts.ts';
import { createExportedDecision, wordsBeforeName } from './decide-exported.ts';
import { findOwners, firstFrom } from './extents.ts';
import type { NestedDeclaration } from './nest-declarations.ts';
import type { Policies } from './policies.ts';
import type { Extent, RawFacts, RawPrelude, RawWrapper } from './raw-facts.ts';

export interface PlacedDeclaration extends Extent {
  readonly nested: NestedDeclaration;
  readonly type: NodeType;
  readonly subtype: string | undefined;
  /** Start with docs and attributes. */
  readonly fullStart: number;
  readonly exported: boolean;
  readonly hasDoc: boolean;
  readonly test: boolean;
}

export interface PlaceInput {
  readonly raw: RawFacts;
  readonly nested: readonly NestedDeclaration[];
  readonly exportNames: ReadonlySet<string>;
  readonly text: string;
  readonly policies: Policies;
  readonly isTestFile: boolean;
}

export function placeDeclarations(input: PlaceInput): PlacedDeclaration[] {
  const { raw, nested, policies, isTestFile } = input;
  const preludes = createPreludeFinder(raw.preludes, input.text, policies.doc);
  const outerOf = createOuterExtents(input.text, preludes);
  const hasGroupDoc = createGroupDocs(input.text, preludes);
  const isExported = createExportedDecision(input);
  const subtypes = raw.subtypes.toSorted((left, right) => left.start - right.start);
  const withDocstring = findDocstringOwners(input);
  const placed: PlacedDeclaration[] = [];
  for (const [index, declaration] of nested.entries()) {
    const outer = outerOf(declaration);
    const prelude = preludes.before(outer.start);
    const around = placed[declaration.parent];
    const isTest = declaration.type === 'test' || hasTestMark(declaration, prelude.attrs, input);
    placed.push({
      nested: declaration,
      start: prelude.start,
      end: outer.end,
      fullStart: prelude.fullStart,
      type: isTest && isFunction(declaration) ? 'test' : declaration.type,
      subtype: declaration.subtype ?? wordsBeforeName(subtypes, declaration)[0],
      exported: isExported(index, prelude.attrs),
      hasDoc: prelude.hasDoc || withDocstring.has(index) || hasGroupDoc(declaration, outer),
      test: isTestFile || isTest || around?.test === true,
    });
  }
  return placed;
}

/** Wrappers are part of a declaration as far as it has them for itself; what opens a block or group is no modifier. */
function createOuterExtents(text: string, preludes: PreludeFinder): (declaration: NestedDeclaration) => Extent {
  const opens = (from: number, to: number): boolean => /[({]/.test(text.slice(from, to));
  return (declaration) => {
    let outer: Extent = declaration;
    for (const wrapper of declaration.wrappers) {
      if (wrapper.holds !== 1) break;
      if (opens(wrapper.start, outer.start) && opens(preludes.before(wrapper.start).start, outer.start)) break;
      outer = wrapper;
    }
    return outer;
  };
}

/** One comment over a statement that declares several names documents each of them; one over a block does not. */
function createGroupDocs(text: string, preludes: PreludeFinder) {
  const known = new Map<RawWrapper, boolean>();
  const isDocumented = (wrapper: RawWrapper): boolean => {
    const { start, headEnd } = wrapper;
    const answer = known.get(wrapper) ?? (preludes.before(start).hasDoc && !text.slice(start, headEnd).includes('{'));
    known.set(wrapper, answer);
    return answer;
  };
  return ({ wrappers }: NestedDeclaration, outer: Extent): boolean =>
    wrappers.some((wrapper) => wrapper.start < outer.start && isDocumented(wrapper));
}

function findDocstringOwners({ raw, nested, policies }: PlaceInput): Set<number> {
  if (policies.doc.by !== 'docstring') return new Set();
  const positions = raw.docstrings.map((one) => one.start).sort((left, right) => left - right);
  const owners = findOwners(nested, positions);
  return new Set(
    [...owners].filter(
      (owner, index) => (nested[owner]?.body?.start ?? Number.POSITIVE_INFINITY) <= (positions[index] ?? 0),
    ),
  );
}

function hasTestMark(declaration: NestedDeclaration, attrs: readonly string[], input: PlaceInput): boolean {
  const { test } = input.policies;
  if (attrs.some((attr) => test.attr.test(attr))) return true;
  return input.isTestFile && isFunction(declaration) && test.name.test(declaration.name);
}

function isFunction({ type }: NestedDeclaration): boolean {
  return type === 'fn' || type === 'method';
}

interface Prelude {
  /** Where the declaration itself begins, after attributes that the grammar puts inside it. */
  readonly start: number;
  /** With attributes and docs. */
  readonly fullStart: number;
  readonly hasDoc: boolean;
  /** Texts of its attributes and decorators. */
  readonly attrs: readonly string[];
}

interface PreludeFinder {
  /** For a declaration that begins at this offset. */
  before(outer: number): Prelude;
}

/** What comes before a declaration and belongs to it: attributes, decorators, doc comments. */
function createPreludeFinder(raw: readonly RawPrelude[], text: string, doc: Policies['doc']): PreludeFinder {
  const sorted = raw.toSorted((left, right) => left.start - right.start);

  function isDoc(item: RawPrelude): boolean {
    if (doc.by !== 'leading') return false;
    const comment = text.slice(item.start, item.end);
    return doc.match.test(comment) && !doc.exclude.test(comment);
  }

  function belongs(item: RawPrelude, cursor: number): boolean {
    const breaks = lineBreaksBetween(text, item.end, cursor);
    return item.kind === 'attr' ? breaks >= 0 : (breaks === 0 || breaks === 1) && isFirstOnLine(text, item.start);
  }

  return {
    before(outer) {
      const first = firstFrom(sorted, outer);
      const attrs: string[] = [];
      let start = outer;
      for (let at = first; sorted[at]?.start === start && sorted[at]?.kind === 'attr'; at++) {
        attrs.push(text.slice(sorted[at]?.start, sorted[at]?.end));
        start = skipSpace(text, sorted[at]?.end ?? start);
      }
      let fullStart = outer;
      let hasDoc = false;
      let cursor = outer;
      for (let at = first - 1; at >= 0; at--) {
        const item = sorted[at];
        if (item === undefined || !belongs(item, cursor)) break;
        cursor = item.start;
        const documents = isDoc(item);
        if (item.kind === 'attr') attrs.push(text.slice(item.start, item.end));
        if (documents || item.kind === 'attr') fullStart = item.start;
        hasDoc ||= documents;
      }
      return { start, fullStart, hasDoc, attrs };
    },
  };
}

/** -1 when something other than white space lies between, or the order is wrong. */
function lineBreaksBetween(text: string, from: number, to: number): number {
  if (from > to) return -1;
  let breaks = 0;
  for (let at = from; at < to; at++) {
    const unit = text.charCodeAt(at);
    if (unit === 0x0a) breaks++;
    else if (unit > 0x20) return -1;
  }
  return breaks;
}

/** A comment after code explains that code, not what follows. */
function isFirstOnLine(text: string, offset: number): boolean {
  for (let at = offset - 1; at >= 0; at--) {
    const unit = text.charCodeAt(at);
    if (unit === 0x0a || unit === 0xfeff) return true;
    if (unit > 0x20) return false;
  }
  return true;
}

function skipSpace(text: string, offset: number): number {
  let at = offset;
  while (at < text.length && text.charCodeAt(at) <= 0x20) at++;
  return at;
}
