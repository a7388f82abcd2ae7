/**
 * Facts of one file as packed bytes. Runs where the file is parsed, so that the calling thread gets one block instead
 * of objects.
 */
import type { FileFacts, ImportFact, NodeFact, ProblemFact, RefFact } from '../contracts/facts.ts';
import { pack } from './byte-pack.ts';
import {
  FILE_FLAGS,
  HEAD,
  IMPORT,
  IMPORT_FLAGS,
  markOf,
  NODE,
  NONE,
  OPAQUE,
  PROBLEM,
  REF,
  REF_KINDS,
} from './facts-layout.ts';

export function packFacts(facts: FileFacts): Uint8Array<ArrayBuffer> {
  const { nodes, refs, imports, problems } = facts;
  const length =
    HEAD.length +
    nodes.length * NODE.length +
    refs.length * REF.length +
    imports.length * IMPORT.length +
    problems.length * PROBLEM.length;
  const writer = new Writer(length);
  writer.number(nodes.length, refs.length, imports.length, problems.length, facts.problemCount);
  writer.number((facts.generated ? FILE_FLAGS.generated : 0) | (facts.library ? FILE_FLAGS.library : 0));
  for (const node of nodes) writeNode(writer, node);
  for (const ref of refs) writeRef(writer, ref);
  for (const one of imports) writeImport(writer, one);
  for (const problem of problems) writeProblem(writer, problem);
  return pack(writer.finish());
}

class Writer {
  readonly #ints: Int32Array;
  readonly #known = new Map<string, number>();
  readonly #parts: string[] = [];
  #at = 0;
  #end = 0;

  constructor(length: number) {
    this.#ints = new Int32Array(length);
  }

  number(...values: readonly number[]): void {
    for (const value of values) this.#ints[this.#at++] = value;
  }

  /** A text that occurs once only. */
  unique(text: string): void {
    this.number(this.#end, text.length);
    this.#parts.push(text);
    this.#end += text.length;
  }

  text(text: string): void {
    const known = this.#known.get(text);
    if (known !== undefined) {
      this.number(known, text.length);
      return;
    }
    this.#known.set(text, this.#end);
    this.unique(text);
  }

  finish() {
    return { ints: this.#ints, text: this.#parts.join('') };
  }
}

function writeNode(writer: Writer, node: NodeFact): void {
  const { span, fullSpan, nameSpan, bodySpan } = node;
  writer.unique(node.id);
  writer.unique(node.rev);
  writer.text(node.name);
  writer.text(node.container);
  writer.text(node.subtype ?? '');
  writer.text(node.signature);
  writer.number(markOf(node), node.parent, node.ordinal);
  writer.number(span.start, span.end, fullSpan.start, fullSpan.end, nameSpan.start, nameSpan.end);
  writer.number(bodySpan?.start ?? NONE, bodySpan?.end ?? NONE, node.line, node.col, node.endLine, node.endCol);
}

function writeRef(writer: Writer, ref: RefFact): void {
  writer.text(ref.name);
  writer.number(REF_KINDS.indexOf(ref.kind) | (ref.opaque === true ? OPAQUE : 0), ref.start, ref.line, ref.node);
}

function writeImport(writer: Writer, one: ImportFact): void {
  writer.text(one.source);
  writer.text(one.name ?? '');
  writer.text(one.alias ?? '');
  writer.number(
    (one.name === undefined ? 0 : IMPORT_FLAGS.named) |
      (one.alias === undefined ? 0 : IMPORT_FLAGS.aliased) |
      (one.star === true ? IMPORT_FLAGS.star : 0) |
      (one.typeOnly === true ? IMPORT_FLAGS.typeOnly : 0) |
      (one.reexport === true ? IMPORT_FLAGS.reexport : 0),
    one.start,
    one.line,
  );
}

function writeProblem(writer: Writer, problem: ProblemFact): void {
  writer.text(problem.message);
  writer.number(problem.kind === 'error' ? 0 : 1, problem.span.start, problem.span.end, problem.line, problem.col);
}
