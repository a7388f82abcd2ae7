/** Decides what a declaration's extent is, and what it is: exported, documented, a test. Parents come before children. */
import type { NodeType } from '../contracts/facts.ts';
import { createExportedDecision } from './decide-exported.ts';
import { findOwners } from './find-owners.ts';
import { createPreludeFinder, type PreludeFinder } from './find-prelude.ts';
import type { NestedDeclaration } from './nest-declarations.ts';
import type { Policies } from './policies.ts';
import type { Extent, RawFacts, RawWrapper } from './raw-facts.ts';
import { wordsBeforeName } from './words-before-name.ts';

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
