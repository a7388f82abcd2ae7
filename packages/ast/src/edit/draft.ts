/**
 * One file under change: its content so far, parsed, with the facts read from it.
 *
 * A change is tried first and taken over only when it passed its checks. Ids of declarations follow the same rules as in
 * the index, so the ids of a draft are those the index will have once it is written.
 */
import type { QueryNode } from '../contracts/code-index-contract.ts';
import type { FileFacts, NodeFact } from '../contracts/facts.ts';
import type { ParsedSource, SourceParser } from '../parse/source-parser.ts';
import { decodeSource, type SourceText } from '../parse/source-text.ts';
import type { LanguageProfile } from '../profile/profile.ts';
import type { Engine } from '../symbols/engine.ts';
import { matchTwins } from '../symbols/match-twins.ts';
import { nodeId } from '../symbols/node-id.ts';
import { throwIfAborted } from './edit-failures.ts';
import type { ByteEdit, PlannedFile } from './edit-plan.ts';
import type { EditProfile } from './edit-profile.ts';
import { sortEdits, type TextEdit, toByteEdits } from './text-edit.ts';
import { readStyle, type TextStyle } from './text-style.ts';

export interface DraftOrigin {
  readonly path: string;
  /** Null for a file that does not exist yet. */
  readonly before: Uint8Array | null;
  readonly sha256: string | null;
  readonly parser: SourceParser;
  readonly engine: Engine;
  readonly edit: EditProfile;
  readonly signal?: AbortSignal | undefined;
  /** Declarations as the index knows them, in file order; sets the ids of twins right. */
  readonly rows?: readonly QueryNode[];
}

/** A changed content that is not yet decided on. */
export interface Trial {
  readonly pieces: PieceTable;
  readonly parsed: ParsedSource;
  readonly facts: FileFacts;
}

export class Draft {
  readonly path: string;
  readonly before: Uint8Array | null;
  readonly sha256: string | null;
  readonly profile: LanguageProfile;
  readonly edit: EditProfile;
  readonly #origin: DraftOrigin;
  #now: Trial;
  #style: TextStyle | undefined;
  #onDisk: SourceText | undefined;

  constructor(origin: DraftOrigin) {
    this.#origin = origin;
    this.path = origin.path;
    this.before = origin.before;
    this.sha256 = origin.sha256;
    this.profile = origin.parser.profile;
    this.edit = origin.edit;
    const bytes = origin.before ?? new Uint8Array();
    const parsed = this.#parse(bytes);
    const facts = origin.engine.facts(parsed, origin.path);
    const nodes = nodesAsIndexed(origin.path, facts.nodes, origin.rows ?? []) ?? facts.nodes;
    this.#now = { pieces: PieceTable.of(bytes), parsed, facts: { ...facts, nodes } };
  }

  get source(): SourceText {
    return this.#now.parsed.source;
  }

  get text(): string {
    return this.source.text;
  }

  get parsed(): ParsedSource {
    return this.#now.parsed;
  }

  get facts(): FileFacts {
    return this.#now.facts;
  }

  get style(): TextStyle {
    this.#style ??= readStyle(this.text, this.edit.indent);
    return this.#style;
  }

  get parser(): SourceParser {
    return this.#origin.parser;
  }

  get isChanged(): boolean {
    return this.#now.pieces.edits().length > 0;
  }

  /** Offsets of the text for a span in bytes. */
  units({ start, end }: { readonly start: number; readonly end: number }): { start: number; end: number } {
    return { start: this.source.toOffset(start), end: this.source.toOffset(end) };
  }

  /** The caller adopts or discards what it gets. */
  attempt(edits: readonly TextEdit[]): Trial {
    const sorted = sortEdits(edits, this.path);
    const pieces = this.#now.pieces.change(toByteEdits(sorted, this.source, this.path));
    const parsed = this.#parse(pieces.bytes(), this.#now.parsed);
    const facts = matchTwins(this.facts, this.#origin.engine.facts(parsed, this.path), this.path);
    return { pieces, parsed, facts };
  }

  /** A piece of text in the same language; the caller deletes it. */
  parseAlone(text: string): ParsedSource {
    return this.#parse(Buffer.from(text));
  }

  adopt(trial: Trial): void {
    this.#now.parsed.delete();
    this.#now = trial;
  }

  discard(trial: Trial): void {
    trial.parsed.delete();
  }

  /** Where a range of bytes of the file on disk is now, in bytes; undefined when something in it was changed. */
  place(start: number, end: number): { readonly start: number; readonly end: number } | undefined {
    return this.#now.pieces.place(start, end);
  }

  /** Where a range of bytes of the draft is in the file on disk. */
  origin(start: number, end: number): { readonly start: number; readonly end: number } | undefined {
    return this.#now.pieces.origin(start, end);
  }

  /** The file as it is on disk. */
  get onDisk(): SourceText {
    this.#onDisk ??= decodeSource(this.before ?? new Uint8Array(), this.path);
    return this.#onDisk;
  }

  planned(): PlannedFile {
    const { path, before, sha256 } = this;
    const { pieces } = this.#now;
    return { path, before, sha256, after: pieces.bytes(), edits: pieces.edits() };
  }

  close(): void {
    this.#now.parsed.delete();
  }

  #parse(bytes: Uint8Array, previous?: ParsedSource): ParsedSource {
    const { path, signal, parser } = this.#origin;
    throwIfAborted(signal);
    return parser.parse(decodeSource(bytes, path), {
      path,
      ...(signal === undefined ? {} : { signal }),
      ...(previous === undefined ? {} : { previous }),
    });
  }
}

const MAX_ORDINAL = 1_000;

/**
 * The declarations of a file under the ids of the index, or undefined if the two describe different content.
 *
 * The index keeps the ordinals of twins through changes, so its ids may differ from those of a fresh reading. The ordinal
 * is part of the id's hash and is found again by trying.
 */
function nodesAsIndexed(
  path: string,
  facts: readonly NodeFact[],
  rows: readonly QueryNode[],
): readonly NodeFact[] | undefined {
  if (facts.length !== rows.length) return undefined;
  const nodes: NodeFact[] = [];
  for (const [index, fact] of facts.entries()) {
    const row = rows[index];
    if (row === undefined || row.rev !== fact.rev || row.name_span.start !== fact.nameSpan.start) return undefined;
    nodes.push(row.id === fact.id ? fact : { ...fact, id: row.id, ordinal: ordinalOf(path, fact, row.id) });
  }
  return nodes;
}

function ordinalOf(path: string, fact: NodeFact, id: string): number {
  for (let ordinal = 0; ordinal < MAX_ORDINAL; ordinal++) if (nodeId(path, { ...fact, ordinal }) === id) return ordinal;
  return fact.ordinal;
}

interface Piece {
  /** In the original; undefined for new bytes. */
  readonly start: number | undefined;
  readonly bytes: Uint8Array;
}

/**
 * The bytes of a file under change: which parts are still the file's own and which are new.
 *
 * Immutable. However many rounds of edits it went through, `edits` says what they amount to against the original.
 */
export class PieceTable {
  readonly #original: Uint8Array;
  readonly #pieces: readonly Piece[];

  private constructor(original: Uint8Array, pieces: readonly Piece[]) {
    this.#original = original;
    this.#pieces = pieces;
  }

  static of(original: Uint8Array): PieceTable {
    return new PieceTable(original, original.length === 0 ? [] : [{ start: 0, bytes: original }]);
  }

  bytes(): Uint8Array {
    return Buffer.concat(this.#pieces.map((piece) => piece.bytes));
  }

  /** `edits` in file order, none overlapping, in bytes of the present content. */
  change(edits: readonly ByteEdit[]): PieceTable {
    const made: Piece[] = [];
    let at = 0;
    for (const edit of edits) {
      made.push(...this.#between(at, edit.start), { start: undefined, bytes: edit.bytes });
      at = edit.end;
    }
    made.push(...this.#between(at, Number.POSITIVE_INFINITY));
    return new PieceTable(
      this.#original,
      made.filter((piece) => piece.bytes.length > 0),
    );
  }

  /** What leads from the original to the present content. */
  edits(): readonly ByteEdit[] {
    const found: ByteEdit[] = [];
    let at = 0;
    let fresh: Uint8Array[] = [];
    const close = (end: number) => {
      if (fresh.length > 0 || end > at) found.push({ start: at, end, bytes: Buffer.concat(fresh) });
      fresh = [];
    };
    for (const { start, bytes } of this.#pieces) {
      if (start === undefined) fresh.push(bytes);
      else {
        close(start);
        at = start + bytes.length;
      }
    }
    close(this.#original.length);
    return found;
  }

  /** Where a range of the original lies now; undefined when something in it was changed. */
  place(start: number, end: number): { readonly start: number; readonly end: number } | undefined {
    let at = 0;
    for (const piece of this.#pieces) {
      const from = piece.start;
      if (from !== undefined && from <= start && end <= from + piece.bytes.length) {
        return { start: at + start - from, end: at + end - from };
      }
      at += piece.bytes.length;
    }
    return undefined;
  }

  /** The way back: where a range of the present content was in the original. */
  origin(start: number, end: number): { readonly start: number; readonly end: number } | undefined {
    let at = 0;
    for (const piece of this.#pieces) {
      const isInside = at <= start && end <= at + piece.bytes.length;
      if (isInside && piece.start !== undefined)
        return { start: piece.start + start - at, end: piece.start + end - at };
      at += piece.bytes.length;
    }
    return undefined;
  }

  #between(from: number, to: number): Piece[] {
    const found: Piece[] = [];
    let at = 0;
    for (const { start, bytes } of this.#pieces) {
      const first = Math.max(0, from - at);
      const last = Math.min(bytes.length, to - at);
      if (first < last) {
        found.push({ start: start === undefined ? undefined : start + first, bytes: bytes.subarray(first, last) });
      }
      at += bytes.length;
    }
    return found;
  }
}
