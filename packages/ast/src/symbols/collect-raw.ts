/** Runs the symbols query once over a tree and sorts what it caught by role. The only place that touches nodes. */
import type { Node, QueryCapture, QueryMatch } from 'web-tree-sitter';
import type { TimeLimit } from '../parse/limits.ts';
import type { ParsedSource } from '../parse/source-parser.ts';
import { unquote } from './join-imports.ts';
import type {
  Extent,
  RawDeclaration,
  RawFacts,
  RawImport,
  RawPrelude,
  RawRef,
  RawText,
  RawWrapper,
} from './raw-facts.ts';

/** The query takes very long on trees deeper than 65,535 nodes, which it cannot count: hence the limit. */
export function collectRaw({ tree, source, parser }: ParsedSource, limit: TimeLimit): RawFacts {
  const raw = emptyFacts();
  const matches = parser.queries.symbols.matches(tree.rootNode, { progressCallback: () => limit.isOver() });
  if (limit.isOver()) limit.refuse();
  for (const match of matches) collectMatch(raw, match, source.text);
  return raw.declarations.some(({ isForRest }) => isForRest) ? { ...raw, ...stretched(raw, source.text) } : raw;
}

/** `namespace A;` holds what follows it. */
function stretched({ declarations }: RawFacts, text: string): Pick<RawFacts, 'declarations'> {
  const starts = declarations.filter(({ isForRest }) => isForRest).map(({ start }) => start);
  const endOf = (start: number): number => Math.min(...starts.filter((one) => one > start), text.length);
  return {
    declarations: declarations.map((one) => {
      if (!one.isForRest) return one;
      return { ...one, headEnd: one.end, end: one.start + text.slice(one.start, endOf(one.start)).trimEnd().length };
    }),
  };
}

function emptyFacts(): RawFacts {
  return {
    declarations: [],
    wrappers: [],
    lifts: [],
    locals: [],
    preludes: [],
    docstrings: [],
    visibilities: [],
    subtypes: [],
    sections: [],
    hiddenNames: [],
    exportNames: [],
    exportLists: [],
    refs: [],
    imports: [],
    parts: [],
  };
}

function collectMatch(raw: RawFacts, match: QueryMatch, text: string): void {
  let declaration: QueryCapture | undefined;
  let isImport = false;
  for (const capture of match.captures) {
    const { name } = capture;
    const add = ADDERS.get(name);
    if (add !== undefined) add(raw, capture.node, text, match);
    else if (name.startsWith('def.')) declaration = capture;
    else if (name.startsWith('import')) isImport = true;
  }
  if (declaration !== undefined) addDeclaration(raw, match, declaration, text);
  if (isImport) raw.imports.push(readImport(match, text));
}

type Adder = (raw: RawFacts, node: Node, text: string, match: QueryMatch) => void;

/** Facts that are complete in themselves; the parts of declarations and imports are read from their match as a whole. */
const ADDERS: ReadonlyMap<string, Adder> = new Map<string, Adder>([
  ['ref.call', (raw, node, text) => raw.refs.push(reference('call', node, text))],
  ['ref.new', (raw, node, text) => raw.refs.push(reference('new', node, text))],
  ['ref.macro', (raw, node, text) => raw.refs.push(reference('macro', node, text))],
  ['opaque.call', (raw, node, text) => addOpaque(raw, reference('call', node, text), '(', text)],
  ['opaque.macro', (raw, node, text) => addOpaque(raw, reference('macro', node, text), '!', text)],
  ['comment', (raw, node, text) => raw.preludes.push(prelude('comment', node, text))],
  ['attr', (raw, node, text) => raw.preludes.push(prelude('attr', node, text))],
  ['statement', (raw, node, _text, match) => raw.wrappers.push(wrapper(node, { type: property(match, 'type') }))],
  ['export', (raw, node) => raw.wrappers.push(wrapper(node, { exports: true }))],
  ['lift', (raw, node) => raw.lifts.push(extent(node))],
  ['bind', addBindings],
  ['local', (raw, node) => raw.locals.push(extent(node))],
  ['doc', (raw, node) => raw.docstrings.push(extent(node))],
  ['vis', (raw, node, text) => raw.visibilities.push(wording(node, text))],
  ['subtype', (raw, node, text) => raw.subtypes.push(wording(node, text))],
  ['section', (raw, node, text) => raw.sections.push(wording(node, text))],
  ['hide.name', (raw, node, text) => raw.hiddenNames.push(wording(node, text))],
  ['export.name', (raw, node, text) => raw.exportNames.push(wording(node, text))],
  [
    'embedded',
    (raw, node, _text, match) => {
      const language = property(match, 'language');
      if (language !== undefined) raw.parts.push({ ...extent(node), language });
    },
  ],
  ['export.list', (raw, node, text) => raw.exportLists.push(wording(node, text))],
]);

function addDeclaration(raw: RawFacts, match: QueryMatch, declaration: QueryCapture, text: string): void {
  const nameNode = find(match, 'name');
  const setName = property(match, 'name');
  if (nameNode === undefined && setName === undefined) return;
  const { node } = declaration;
  const written =
    nameNode === undefined ? { start: node.startIndex, end: node.startIndex } : nameExtent(match, nameNode);
  const { value, cut } = unquote(text.slice(written.start, written.end), property(match, 'prefix'));
  const start = written.start + cut;
  const bodyNode = find(match, 'body');
  const body = bodyNode === undefined ? undefined : trimmedExtent(bodyNode, text);
  raw.declarations.push({
    start: node.startIndex,
    end: Math.max(trimmedExtent(node, text).end, body?.end ?? 0),
    pattern: match.patternIndex,
    type: declaration.name.slice(4),
    subtype: property(match, 'subtype'),
    name: setName ?? onOneLine(value),
    nameSpan: { start, end: start + value.length },
    body,
    headEnd: find(match, 'head')?.endIndex,
    container: readContainer(match, text),
    visibility: property(match, 'vis'),
    isSingle: property(match, 'single') !== undefined,
    isOutsideOnly: property(match, 'outside') !== undefined,
    isForRest: property(match, 'rest') !== undefined,
  });
}

/** A name of several words has several captures: it reaches from the first to the last. */
function nameExtent(match: QueryMatch, first: Node): Extent {
  const last = match.captures.findLast(({ name }) => name === 'name')?.node ?? first;
  return { start: first.startIndex, end: Math.max(first.endIndex, last.endIndex) };
}

/** The variables of a pattern such as `[a, { b }]`: its leaves, without keys and default values. */
function addBindings(raw: RawFacts, node: Node, text: string, match: QueryMatch): void {
  const leaves = new Set(property(match, 'leaf')?.split(' '));
  const skipped = new Set(property(match, 'skip')?.split(' '));
  const left = [node];
  for (let one = left.pop(); one !== undefined; one = left.pop()) {
    if (leaves.has(one.type)) raw.declarations.push(bound(one, text, match.patternIndex));
    for (const [place, child] of one.children.entries()) {
      if (!skipped.has(one.fieldNameForChild(place) ?? '')) left.push(child);
    }
  }
}

function bound(node: Node, text: string, pattern: number): RawDeclaration {
  const nameSpan = extent(node);
  return {
    ...nameSpan,
    ...{ pattern, nameSpan, type: 'var', name: text.slice(nameSpan.start, nameSpan.end) },
    ...{ subtype: undefined, body: undefined, headEnd: undefined, container: undefined, visibility: undefined },
    ...{ isSingle: false, isOutsideOnly: false, isForRest: false },
  };
}

/** Lists of selectors go over several lines. */
function onOneLine(value: string): string {
  return value.includes('\n') ? value.replace(/\s*\n\s*/g, ' ') : value;
}

/** Some grammars have no node for the whole of `a::b::` in `a::b::c`: the parts are joined. */
function readContainer(match: QueryMatch, text: string): string | undefined {
  const parts = match.captures.filter(({ name }) => name === 'container');
  return parts.length === 0 ? undefined : parts.map(({ node }) => wording(node, text).text).join('::');
}

function readImport(match: QueryMatch, text: string): RawImport {
  const read = (role: string): string | undefined => {
    const node = find(match, role);
    return node === undefined ? property(match, role) : unquote(text.slice(node.startIndex, node.endIndex)).value;
  };
  const at = find(match, 'import') ?? match.captures[0]?.node;
  return {
    start: at?.startIndex ?? 0,
    end: at?.endIndex ?? 0,
    source: read('import.source'),
    name: read('import.name'),
    alias: read('import.alias'),
    star: read('import.star') !== undefined,
    typeOnly: read('import.type') !== undefined,
    reexport: read('import.reexport') !== undefined,
    tree: read('import.tree'),
  };
}

function prelude(kind: RawPrelude['kind'], node: Node, text: string): RawPrelude {
  const { start, end } = trimmedExtent(node, text);
  return { kind, start, end };
}

function wrapper(node: Node, { exports = false, type }: { exports?: boolean; type?: string | undefined }): RawWrapper {
  return { start: node.startIndex, end: node.endIndex, exports, type, holds: 0, headEnd: 0 };
}

function reference(kind: RawRef['kind'], node: Node, text: string): RawRef {
  const start = node.startIndex;
  const end = node.endIndex;
  return { kind, start, end, name: text.slice(start, end), opaque: false };
}

/** Queries skip over signs between two nodes, so `a - (b)` looks like `a(b)` to them; the text does not lie. */
function addOpaque(raw: RawFacts, ref: RawRef, next: string, text: string): void {
  let at = ref.end;
  while (text.charCodeAt(at) <= 0x20) at++;
  if (text[at] === next) raw.refs.push({ ...ref, opaque: true });
}

function wording(node: Node, text: string): RawText {
  const { start, end } = extent(node);
  return { start, end, text: text.slice(start, end) };
}

function find(match: QueryMatch, role: string): Node | undefined {
  for (const capture of match.captures) if (capture.name === role) return capture.node;
  return undefined;
}

function property(match: QueryMatch, key: string): string | undefined {
  return match.setProperties?.[key] ?? undefined;
}

function extent(node: Node): Extent {
  return { start: node.startIndex, end: node.endIndex };
}

/** Some grammars count the line end as part of a line comment or directive. */
function trimmedExtent(node: Node, text: string): Extent {
  const { startIndex: start } = node;
  let end = node.endIndex;
  while (end > start && text.charCodeAt(end - 1) <= 0x20) end--;
  return { start, end };
}
