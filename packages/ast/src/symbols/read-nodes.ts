/** Node facts from placed declarations: bytes, lines, ids, revs and signatures. */
import type { ByteSpan, NodeFact } from '../contracts/facts.ts';
import type { SourceText } from '../parse/source-text.ts';
import { nodeId, nodeRev } from './node-id.ts';
import type { PlacedDeclaration } from './place-declarations.ts';

const MAX_SIGNATURE = 300;
/** Names of tests are sentences and names of keys are anything: enough to tell them apart, not more. */
const MAX_NAME = 200;
/** White space that is not just single blanks. */
const UNEVEN_SPACE = /[^\S ]| {2}/;

/** Optional fields are set afterwards: spreading them costs as much as all the rest. */
type Draft = { -readonly [Key in keyof NodeFact]: NodeFact[Key] };

export function readNodes(placed: readonly PlacedDeclaration[], source: SourceText, path: string): NodeFact[] {
  const ordinals = new Map<string, number>();
  const revOf = createRevs(source);
  return placed.map((one) => {
    const { nested, type, start, end } = one;
    const name = nested.name.length > MAX_NAME ? nested.name.slice(0, MAX_NAME) : nested.name;
    const { container } = nested;
    const key = `${type}\0${container}\0${name}`;
    const ordinal = ordinals.get(key) ?? 0;
    ordinals.set(key, ordinal + 1);
    const span = toSpan(source, start, end);
    const row = source.rowOf(start);
    const endRow = source.rowOf(end);
    const isWithoutPrelude = one.fullStart === start;
    const node: Draft = {
      id: nodeId(path, { type, container, name, ordinal }),
      rev: revOf(one, span),
      type,
      name,
      container,
      parent: nested.parent,
      ordinal,
      span,
      fullSpan: isWithoutPrelude ? span : { start: source.toByte(one.fullStart), end: span.end },
      nameSpan: toSpan(source, nested.nameSpan.start, nested.nameSpan.end),
      line: row + 1,
      col: start - source.lineStart(row) + 1,
      endLine: endRow + 1,
      endCol: end - source.lineStart(endRow) + 1,
      exported: one.exported,
      hasDoc: one.hasDoc,
      test: one.test,
      signature: signatureOf(one, source.text),
    };
    if (one.subtype !== undefined) node.subtype = one.subtype;
    if (nested.body !== undefined) node.bodySpan = toSpan(source, nested.body.start, nested.body.end);
    return node;
  });
}

function toSpan(source: SourceText, start: number, end: number): ByteSpan {
  return { start: source.toByte(start), end: source.toByte(end) };
}

function createRevs(source: SourceText): (one: PlacedDeclaration, span: ByteSpan) => string {
  if (!source.text.includes('\r')) return (_one, span) => nodeRev(source.bytes.subarray(span.start, span.end));
  return (one) => nodeRev(source.text.slice(one.start, one.end).replace(/\r\n?/g, '\n'));
}

function signatureOf({ nested, start, end }: PlacedDeclaration, text: string): string {
  const bodyStart = nested.headEnd ?? nested.body?.start ?? end;
  const stop = bodyStart > start ? bodyStart : end;
  const head = text.slice(start, Math.min(stop, start + 4 * MAX_SIGNATURE));
  const line = UNEVEN_SPACE.test(head) ? head.replace(/\s+/g, ' ') : head;
  return line.trim().slice(0, MAX_SIGNATURE);
}
