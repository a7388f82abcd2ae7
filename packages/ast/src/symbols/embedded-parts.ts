/**
 * Code of another language inside a file, such as scripts and styles in HTML: parsed by its own grammar, at the places
 * it has in the file, and put among the facts of the file.
 */
import type { FileFacts, NodeFact } from '../contracts/facts.ts';
import { SourceText } from '../parse/source-text.ts';
import { nodeId } from './node-id.ts';
import type { EmbeddedPart, Extent } from './raw-facts.ts';

/** Beyond that they are left unread: each is parsed with the length of what is before it. */
export const MAX_PARTS = 200;
const MAX_PROBLEMS = 50;

/** A part of a file: what is before it is blank, so that every place is that of the file. */
export class PartText extends SourceText {
  readonly #whole: SourceText;

  constructor(whole: SourceText, { start, end }: Extent) {
    super(
      whole.bytes,
      whole.text.slice(0, start).replace(/[^\r\n]/g, ' ') + whole.text.slice(start, end),
      whole.encoding,
    );
    this.#whole = whole;
  }

  override toByte(offset: number): number {
    return this.#whole.toByte(offset);
  }

  override toOffset(byte: number): number {
    return this.#whole.toOffset(byte);
  }
}

/** Filled in by a program later: until then its errors say nothing. */
export function isTemplate(text: string): boolean {
  return /\{\{|\{%|<[%?]|<!\[CDATA\[/.test(text);
}

export interface PartFacts {
  readonly part: EmbeddedPart;
  readonly facts: FileFacts;
}

/** Declarations of a part belong to the declaration of the file that holds it. */
export function withParts(file: FileFacts, parts: readonly PartFacts[], source: SourceText, path: string): FileFacts {
  const all: Placed[] = file.nodes.map((node, at) => ({ node, from: -1, at }));
  for (const [from, { part, facts }] of parts.entries()) {
    const start = source.toByte(part.start);
    const holder = file.nodes.findLastIndex(({ span }) => span.start <= start && start < span.end);
    const prefix = pathOf(file.nodes[holder]);
    for (const [at, node] of facts.nodes.entries()) {
      const container = [prefix, node.container].filter((name) => name !== '').join('.');
      all.push({ node: { ...node, container, language: part.language }, from, at, holder });
    }
  }
  all.sort((a, b) => a.node.span.start - b.node.span.start || a.from - b.from || a.at - b.at);
  const places = new Map(all.map(({ from, at }, place) => [`${from} ${at}`, place]));
  const placeOf = (from: number, at: number): number => places.get(`${from} ${at}`) ?? -1;
  const facts = [file, ...parts.map((one) => one.facts)];
  return {
    ...file,
    nodes: numbered(all, placeOf, path),
    refs: facts
      .flatMap((one, from) => one.refs.map((ref) => ({ ...ref, node: placeOf(from - 1, ref.node) })))
      .sort((a, b) => a.start - b.start),
    imports: facts.flatMap((one) => one.imports).sort((a, b) => a.start - b.start),
    problems: facts
      .flatMap((one) => one.problems)
      .sort((a, b) => a.span.start - b.span.start)
      .slice(0, MAX_PROBLEMS),
    problemCount: facts.reduce((sum, one) => sum + one.problemCount, 0),
  };
}

interface Placed {
  readonly node: NodeFact;
  /** Which part; -1: the file itself. */
  readonly from: number;
  readonly at: number;
  /** Of a part: the declaration of the file around it. */
  readonly holder?: number;
}

function numbered(all: readonly Placed[], placeOf: (from: number, at: number) => number, path: string): NodeFact[] {
  const ordinals = new Map<string, number>();
  return all.map(({ node, from, holder = -1 }) => {
    const key = `${node.type}\0${node.container}\0${node.name}`;
    const ordinal = ordinals.get(key) ?? 0;
    ordinals.set(key, ordinal + 1);
    const parent = node.parent === -1 ? placeOf(-1, holder) : placeOf(from, node.parent);
    return { ...node, parent, ordinal, id: nodeId(path, { ...node, ordinal }) };
  });
}

function pathOf(node: NodeFact | undefined): string {
  if (node === undefined) return '';
  return node.container === '' ? node.name : `${node.container}.${node.name}`;
}
