/** Packed facts, read in place: a field costs an array access, a string a cut out of the file's text. */
import type { ImportFact, ProblemFact, RefFact } from '../contracts/facts.ts';
import type { EarlierNode } from '../symbols/match-twins.ts';
import { unpack } from './byte-pack.ts';
import {
  FILE_FLAGS,
  HEAD,
  IMPORT,
  IMPORT_FLAGS,
  NODE,
  OPAQUE,
  PROBLEM,
  REF,
  REF_KINDS,
  typeOfMark,
} from './facts-layout.ts';

export type NodeField = Exclude<keyof typeof NODE, 'length'>;

export class FactsView {
  readonly bytes: Uint8Array;
  readonly nodeCount: number;
  readonly problemCount: number;
  readonly generated: boolean;
  readonly library: boolean;
  readonly #ints: Int32Array;
  readonly #text: string;
  readonly #refsAt: number;
  readonly #importsAt: number;
  readonly #problemsAt: number;

  constructor(bytes: Uint8Array) {
    const { ints, text } = unpack(bytes);
    this.#ints = ints;
    this.#text = text;
    this.bytes = bytes;
    this.nodeCount = ints[HEAD.nodes] ?? 0;
    this.problemCount = ints[HEAD.problemCount] ?? 0;
    const flags = ints[HEAD.flags] ?? 0;
    this.generated = (flags & FILE_FLAGS.generated) !== 0;
    this.library = (flags & FILE_FLAGS.library) !== 0;
    this.#refsAt = HEAD.length + this.nodeCount * NODE.length;
    this.#importsAt = this.#refsAt + this.refCount * REF.length;
    this.#problemsAt = this.#importsAt + (ints[HEAD.imports] ?? 0) * IMPORT.length;
  }

  get refCount(): number {
    return this.#ints[HEAD.refs] ?? 0;
  }

  /** A number of a node; for a span its start. */
  number(node: number, field: NodeField): number {
    return this.#ints[HEAD.length + node * NODE.length + NODE[field]] ?? 0;
  }

  /** A text of a node. */
  text(node: number, field: 'id' | 'rev' | 'name' | 'container' | 'subtype' | 'signature'): string {
    return this.#cut(HEAD.length + node * NODE.length + NODE[field]);
  }

  span(node: number, field: 'span' | 'fullSpan' | 'nameSpan' | 'bodySpan'): { start: number; end: number } {
    return this.#span(HEAD.length + node * NODE.length + NODE[field]);
  }

  /** What twins are matched by, in file order. */
  earlier(): EarlierNode[] {
    return Array.from({ length: this.nodeCount }, (_, node) => ({
      rev: this.text(node, 'rev'),
      type: typeOfMark(this.number(node, 'mark')),
      container: this.text(node, 'container'),
      name: this.text(node, 'name'),
      ordinal: this.number(node, 'ordinal'),
    }));
  }

  refName(ref: number): string {
    return this.#cut(this.#refsAt + ref * REF.length + REF.name);
  }

  /** The innermost node around a ref, or -1. */
  refNode(ref: number): number {
    return this.#ints[this.#refsAt + ref * REF.length + REF.node] ?? -1;
  }

  ref(ref: number): RefFact {
    const at = this.#refsAt + ref * REF.length;
    const kind = this.#ints[at + REF.kind] ?? 0;
    return {
      kind: REF_KINDS[kind & ~OPAQUE] ?? 'call',
      name: this.#cut(at + REF.name),
      start: this.#ints[at + REF.start] ?? 0,
      line: this.#ints[at + REF.line] ?? 0,
      node: this.#ints[at + REF.node] ?? -1,
      ...((kind & OPAQUE) === 0 ? {} : { opaque: true }),
    };
  }

  imports(): ImportFact[] {
    return Array.from({ length: this.#ints[HEAD.imports] ?? 0 }, (_, index) => {
      const at = this.#importsAt + index * IMPORT.length;
      const flags = this.#ints[at + IMPORT.flags] ?? 0;
      return {
        source: this.#cut(at + IMPORT.source),
        ...((flags & IMPORT_FLAGS.named) === 0 ? {} : { name: this.#cut(at + IMPORT.name) }),
        ...((flags & IMPORT_FLAGS.aliased) === 0 ? {} : { alias: this.#cut(at + IMPORT.alias) }),
        ...((flags & IMPORT_FLAGS.star) === 0 ? {} : { star: true }),
        ...((flags & IMPORT_FLAGS.typeOnly) === 0 ? {} : { typeOnly: true }),
        ...((flags & IMPORT_FLAGS.reexport) === 0 ? {} : { reexport: true }),
        start: this.#ints[at + IMPORT.start] ?? 0,
        line: this.#ints[at + IMPORT.line] ?? 0,
      };
    });
  }

  problems(): ProblemFact[] {
    return Array.from({ length: this.#ints[HEAD.problems] ?? 0 }, (_, index) => {
      const at = this.#problemsAt + index * PROBLEM.length;
      return {
        kind: this.#ints[at + PROBLEM.kind] === 0 ? 'error' : 'missing',
        span: this.#span(at + PROBLEM.span),
        line: this.#ints[at + PROBLEM.line] ?? 0,
        col: this.#ints[at + PROBLEM.col] ?? 0,
        message: this.#cut(at + PROBLEM.message),
      };
    });
  }

  #cut(at: number): string {
    const start = this.#ints[at] ?? 0;
    return this.#text.slice(start, start + (this.#ints[at + 1] ?? 0));
  }

  #span(at: number): { start: number; end: number } {
    return { start: this.#ints[at] ?? 0, end: this.#ints[at + 1] ?? 0 };
  }
}
