/**
 * JSON with comments and trailing commas, as editors keep their settings: a tree that knows where everything is.
 *
 * Strict otherwise, so that no file is edited that its owner would read differently: no single quotes, no bare keys, no
 * key twice in an object.
 */
import type { JsonValue } from '@tool-runtime/protocol';
import { notParsed } from './config-problem.ts';

interface Spot {
  readonly start: number;
  /** Behind the last character. */
  readonly end: number;
}

export interface JsonMember extends Spot {
  readonly key: string;
  readonly value: JsonNode;
}

export type JsonNode =
  | (Spot & { readonly kind: 'object'; readonly members: readonly JsonMember[]; readonly comma: number | undefined })
  | (Spot & { readonly kind: 'array'; readonly items: readonly JsonNode[] })
  | (Spot & { readonly kind: 'scalar'; readonly value: string | number | boolean | null });

export type JsonObjectNode = Extract<JsonNode, { kind: 'object' }>;

const MAX_DEPTH = 200;
const SCALAR = /(?:true|false|null|-?(?:0|[1-9][0-9]*)(?:\.[0-9]+)?(?:[eE][+-]?[0-9]+)?)(?![\w.+-])/y;
const STRING = /"(?:[^"\\\u0000-\u001f]|\\(?:["\\/bfnrt]|u[0-9a-fA-F]{4}))*"/y;
/** White space and comments. */
const GAP = /(?:[ \t\r\n]+|\/\/[^\n]*|\/\*[^*]*\*+(?:[^/*][^*]*\*+)*\/)*/y;

/** Undefined for a file that holds nothing but white space and comments. */
export function parseJsonTree(text: string): JsonNode | undefined {
  const reader = new Reader(text);
  reader.skipGap();
  if (reader.atEnd) return undefined;
  const root = reader.readValue(0);
  reader.skipGap();
  if (!reader.atEnd) throw reader.problem('the file goes on behind its value');
  return root;
}

export function valueOfNode(node: JsonNode): JsonValue {
  if (node.kind === 'scalar') return node.value;
  if (node.kind === 'array') return node.items.map(valueOfNode);
  // `fromEntries` defines properties, so a key `__proto__` is a key like any other.
  return Object.fromEntries(node.members.map(({ key, value }) => [key, valueOfNode(value)]));
}

class Reader {
  readonly #text: string;
  #at: number;

  constructor(text: string) {
    this.#text = text;
    this.#at = text.startsWith('\uFEFF') ? 1 : 0;
  }

  get atEnd(): boolean {
    return this.#at === this.#text.length;
  }

  problem(what: string): Error {
    return notParsed(what, this.#text, this.#at);
  }

  skipGap(): void {
    this.#match(GAP);
  }

  readValue(depth: number): JsonNode {
    if (depth > MAX_DEPTH) throw this.problem(`nested deeper than ${MAX_DEPTH} levels`);
    const next = this.#text[this.#at];
    if (next === '{') return this.#readObject(depth);
    if (next === '[') return this.#readArray(depth);
    const start = this.#at;
    const literal = this.#match(next === '"' ? STRING : SCALAR);
    if (literal === undefined) throw this.problem('a value was expected');
    return { kind: 'scalar', start, end: this.#at, value: JSON.parse(literal) as string | number | boolean | null };
  }

  #readObject(depth: number): JsonNode {
    const start = this.#at;
    const members: JsonMember[] = [];
    const keys = new Set<string>();
    const comma = this.#readItems('}', () => {
      const member = this.#readMember(depth);
      if (keys.has(member.key)) throw notParsed(`key occurs twice: ${member.key}`, this.#text, member.start);
      keys.add(member.key);
      members.push(member);
    });
    return { kind: 'object', start, end: this.#at, members, comma };
  }

  #readArray(depth: number): JsonNode {
    const start = this.#at;
    const items: JsonNode[] = [];
    this.#readItems(']', () => items.push(this.readValue(depth + 1)));
    return { kind: 'array', start, end: this.#at, items };
  }

  #readMember(depth: number): JsonMember {
    const start = this.#at;
    const literal = this.#match(STRING);
    if (literal === undefined) throw this.problem('a key in double quotes was expected');
    this.skipGap();
    this.#expect(':');
    this.skipGap();
    const value = this.readValue(depth + 1);
    return { start, end: value.end, key: JSON.parse(literal) as string, value };
  }

  /** Where the last comma stands if nothing follows it; undefined: there is none. */
  #readItems(close: '}' | ']', readItem: () => void): number | undefined {
    this.#at += 1;
    let comma: number | undefined;
    for (let count = 0; ; count += 1) {
      this.skipGap();
      if (this.#text[this.#at] === close) {
        this.#at += 1;
        return comma;
      }
      if (count > 0 && comma === undefined) throw this.problem(`a comma or ${close} was expected`);
      readItem();
      this.skipGap();
      comma = this.#text[this.#at] === ',' ? this.#at : undefined;
      if (comma !== undefined) this.#at += 1;
    }
  }

  #expect(character: string): void {
    if (this.#text[this.#at] !== character) throw this.problem(`${character} was expected`);
    this.#at += 1;
  }

  #match(pattern: RegExp): string | undefined {
    pattern.lastIndex = this.#at;
    const found = pattern.exec(this.#text)?.[0];
    this.#at += found?.length ?? 0;
    return found;
  }
}
