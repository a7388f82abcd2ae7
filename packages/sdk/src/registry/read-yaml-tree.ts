/**
 * A composed YAML document → plain JSON and places.
 *
 * Refuses what JSON cannot hold or what would surprise: tags, duplicate, merge and `__proto__` keys, infinite numbers.
 * Aliases are followed by hand and counted, together with the values they bring, so a bomb costs no more than the limit.
 */
import type { JsonValue } from '@tool-runtime/protocol';
import { safeText } from '@tool-runtime/protocol/internal';
import { type Document, isAlias, isMap, isScalar, isSeq, type Node, type YAMLMap } from 'yaml';
import type { Place, RegistryProblem } from './problems.ts';

export const MAX_DEPTH = 32;
const MAX_ALIASES = 16;
/** Values after aliases are followed; a text of 64 KiB holds fewer than half of this. */
const MAX_VALUES = 65_536;

interface YamlTree {
  readonly value: JsonValue | undefined;
  readonly places: ReadonlyMap<string, Place>;
  readonly problems: readonly RegistryProblem[];
}

interface Reader {
  readonly document: Document.Parsed;
  readonly placeOf: (offset: number) => Place;
  readonly places: Map<string, Place>;
  readonly problems: RegistryProblem[];
  aliases: number;
  values: number;
  stopped: boolean;
}

type MaybeNode = Node | null | undefined;

function childPath(path: string, key: string): string {
  return path === '' ? key : `${path}.${key}`;
}

function report(reader: Reader, node: MaybeNode, path: string, message: string): undefined {
  const place = reader.placeOf(node?.range?.[0] ?? 0);
  reader.problems.push({ line: place.line, column: place.column, path, message });
  return undefined;
}

/** Ends the walk: what follows would cost more than it tells. */
function stop(reader: Reader, node: MaybeNode, path: string, message: string): undefined {
  if (!reader.stopped) report(reader, node, path, message);
  reader.stopped = true;
  return undefined;
}

function readScalar(reader: Reader, node: Node, path: string, value: unknown): JsonValue | undefined {
  if (typeof value === 'string') {
    if (!value.isWellFormed()) return report(reader, node, path, 'Text holds half a character: a lone surrogate');
    return value;
  }
  if (typeof value === 'number') {
    if (!Number.isFinite(value)) return report(reader, node, path, `Number is not finite: ${path}`);
    if (Number.isInteger(value) && !Number.isSafeInteger(value)) {
      return report(reader, node, path, `Number is too large to be exact: ${path}`);
    }
    return value;
  }
  if (typeof value === 'boolean' || value === null) return value;
  return report(reader, node, path, `Value is not plain text, number, true, false or null: ${path}`);
}

/** Undefined, with a problem, for a key that may not stand here. */
function readKey(reader: Reader, node: MaybeNode, seen: Set<string>, path: string): string | undefined {
  if (!isScalar(node) || typeof node.value !== 'string') return report(reader, node, path, 'Key is not plain text');
  if (node.tag !== undefined) return report(reader, node, path, `Tags are not allowed: ${safeText(node.tag, 80)}`);
  const key = node.value;
  const keyPath = childPath(path, key);
  if (!key.isWellFormed()) return report(reader, node, path, 'Key holds half a character: a lone surrogate');
  if (key === '__proto__') return report(reader, node, keyPath, 'Key is not allowed: __proto__');
  if (key === '<<') return report(reader, node, keyPath, 'Merge keys are not supported: <<');
  if (seen.has(key)) return report(reader, node, keyPath, `Duplicate key: ${safeText(key, 80)}`);
  seen.add(key);
  return key;
}

function readMap(reader: Reader, map: YAMLMap, path: string, depth: number): JsonValue {
  const result: Record<string, JsonValue> = {};
  const seen = new Set<string>();
  for (const pair of map.items) {
    if (reader.stopped) break;
    const keyNode = pair.key as MaybeNode;
    const key = readKey(reader, keyNode, seen, path);
    if (key === undefined) continue;
    const keyPath = childPath(path, key);
    reader.places.set(keyPath, reader.placeOf(keyNode?.range?.[0] ?? 0));
    const value = readNode(reader, pair.value as MaybeNode, keyPath, depth + 1);
    if (value !== undefined) result[key] = value;
  }
  return result;
}

function readNode(reader: Reader, node: MaybeNode, path: string, depth: number): JsonValue | undefined {
  if (reader.stopped) return undefined;
  if (depth > MAX_DEPTH) return stop(reader, node, path, `Nesting is too deep: more than ${MAX_DEPTH} levels`);
  if (++reader.values > MAX_VALUES) return stop(reader, node, path, `Too many values: more than ${MAX_VALUES}`);
  if (node === null || node === undefined) return null;
  if (isAlias(node)) {
    if (++reader.aliases > MAX_ALIASES) return stop(reader, node, path, `Too many aliases: more than ${MAX_ALIASES}`);
    const target = node.resolve(reader.document);
    if (target === undefined) return report(reader, node, path, `Alias has no anchor: ${safeText(node.source, 80)}`);
    return readNode(reader, target, path, depth + 1);
  }
  const tag = (node as { tag?: string }).tag;
  if (tag !== undefined) return report(reader, node, path, `Tags are not allowed: ${safeText(tag, 80)}`);
  if (isMap(node)) return readMap(reader, node, path, depth);
  if (isSeq(node)) {
    return node.items.map((item, index) => {
      const itemPath = childPath(path, `${index}`);
      const range = (item as MaybeNode)?.range ?? node.range;
      reader.places.set(itemPath, reader.placeOf(range?.[0] ?? 0));
      return readNode(reader, item as MaybeNode, itemPath, depth + 1) ?? null;
    });
  }
  return readScalar(reader, node, path, isScalar(node) ? node.value : undefined);
}

/** `value` is undefined when the walk had to stop. */
export function readYamlTree(document: Document.Parsed, placeOf: (offset: number) => Place): YamlTree {
  const reader: Reader = {
    document,
    placeOf,
    places: new Map(),
    problems: [],
    aliases: 0,
    values: 0,
    stopped: false,
  };
  const value = readNode(reader, document.contents, '', 0);
  return { value: reader.stopped ? undefined : value, places: reader.places, problems: reader.problems };
}
