/**
 * Registry text → plain JSON value and the place of every key, under hard limits: 64 KiB, one document, depth 32,
 * no directives. What the tree may hold (tags, aliases, keys) is checked in `readYamlTree`.
 *
 * The token stages of the library are driven by hand, because nesting must be refused while it is being read: deep
 * brackets cost seconds later. The library's own unique-key check is quadratic and is switched off for the same reason.
 */
import { type JsonValue, utf8Length } from '@tool-runtime/protocol';
import { safeText } from '@tool-runtime/protocol/internal';
import {
  Composer,
  type CST,
  type Document,
  isAlias,
  isMap,
  isScalar,
  isSeq,
  Lexer,
  LineCounter,
  type Node,
  Parser,
  Scalar,
  visit,
  type YAMLError,
  type YAMLMap,
} from 'yaml';
import { MAX_REGISTRY_BYTES, type Place, type Places, type RegistryProblem } from './problems.ts';

interface ParsedYaml {
  /** Undefined when the text cannot be read at all; `problems` then says why. */
  readonly value: JsonValue | undefined;
  readonly places: Places;
  readonly problems: readonly RegistryProblem[];
  readonly warnings: readonly RegistryProblem[];
}

type Locator = (offset: number) => Place;

interface Tokens {
  readonly tokens: readonly CST.Token[];
  readonly placeOf: Locator;
  readonly problem: RegistryProblem | undefined;
}

function problemAt(place: Place, message: string): RegistryProblem {
  return { line: place.line, column: place.column, path: '', message };
}

function unreadable(problems: readonly RegistryProblem[]): ParsedYaml {
  return { value: undefined, places: new Map(), problems, warnings: [] };
}

function readTokens(text: string): Tokens {
  const lines = new LineCounter();
  lines.addNewLine(0);
  const placeOf: Locator = (offset) => {
    const { line, col } = lines.linePos(offset);
    return { line: Math.max(1, line), column: Math.max(1, col) };
  };
  const parser = new Parser(lines.addNewLine);
  const tokens: CST.Token[] = [];
  for (const lexeme of new Lexer().lex(text)) {
    tokens.push(...parser.next(lexeme));
    // The stack also holds the document and the scalar being read.
    if (parser.stack.length > MAX_DEPTH + 2) {
      const problem = problemAt(placeOf(parser.offset), `Nesting is too deep: more than ${MAX_DEPTH} levels`);
      return { tokens: [], placeOf, problem };
    }
  }
  tokens.push(...parser.end());
  return { tokens, placeOf, problem: streamProblem(tokens, placeOf) };
}

/** A directive could switch the YAML version, and with it what `yes` and `<<` mean. */
function streamProblem(tokens: readonly CST.Token[], placeOf: Locator): RegistryProblem | undefined {
  const directive = tokens.find((token) => token.type === 'directive');
  if (directive !== undefined) return problemAt(placeOf(directive.offset), 'YAML directives are not allowed');
  const second = tokens.filter((token) => token.type === 'document')[1];
  if (second !== undefined) return problemAt(placeOf(second.offset), 'More than one document: a registry must be one');
  return undefined;
}

function compose(tokens: readonly CST.Token[], length: number): Document.Parsed | undefined {
  const composer = new Composer({
    uniqueKeys: false,
    stringKeys: true,
    merge: false,
    resolveKnownTags: false,
    prettyErrors: false,
    keepSourceTokens: true,
    logLevel: 'silent',
  });
  return [...composer.compose(tokens, true, length)][0];
}

/** An escaped quote and an escaped line end have no literal reading and stay. */
function doubleBackslashes(source: string): string {
  return source.replace(/\\(\r?\n|[\s\S])/g, (pair, next: string) => {
    if (next === '"' || next.endsWith('\n')) return pair;
    return next === '\\' ? '\\\\\\\\' : `\\\\${next}`;
  });
}

/** Whether invalid escapes are the only kind of failure. */
function canReadLiterally(errors: readonly YAMLError[]): boolean {
  return errors.length > 0 && errors.every((error) => error.code === 'BAD_DQ_ESCAPE');
}

/**
 * Double-quoted patterns such as "^cargo(\s|$)" are not YAML, yet the registry format is documented with them.
 *
 * Only a scalar that holds an escape YAML does not know is changed: every backslash in it is taken literally, so that
 * `\s` and `\b` of one pattern have the same meaning. Valid scalars elsewhere keep their YAML meaning. The tokens are
 * changed in place, not the text, so every position stays the one the author sees. Composing the same tokens again gives
 * the intended text. Returns the offsets of the scalars.
 */
function readLiterally(document: Document.Parsed, errors: readonly YAMLError[]): readonly number[] {
  const failed = errors.map((error) => error.pos[0]).toSorted((left, right) => left - right);
  let next = 0;
  const changed: number[] = [];
  visit(document, {
    Scalar(_key, node) {
      const token = isScalar(node) ? node.srcToken : undefined;
      if (token === undefined || node.type !== Scalar.QUOTE_DOUBLE || !('source' in token)) return;
      const end = token.offset + token.source.length;
      // Scalars are visited in the order of the text, so one pass over the failures serves all of them.
      while ((failed[next] ?? end) < token.offset) next++;
      if ((failed[next] ?? end) >= end) return;
      token.source = doubleBackslashes(token.source);
      changed.push(token.offset);
    },
  });
  return changed;
}

/** Some of the library's sentences repeat all of the text they are about. */
const MAX_SENTENCE = 160;

function shortened(sentence: string): string {
  return sentence.length > MAX_SENTENCE ? `${sentence.slice(0, MAX_SENTENCE - 3).toWellFormed()}...` : sentence;
}

function syntaxProblems(errors: readonly YAMLError[], placeOf: Locator): readonly RegistryProblem[] {
  return errors.map((error) => problemAt(placeOf(error.pos[0]), `Not valid YAML: ${shortened(error.message)}`));
}

/** Never throws. All problems of the text come back at once. */
export function parseYaml(text: string): ParsedYaml {
  if (utf8Length(text) > MAX_REGISTRY_BYTES) {
    return unreadable([problemAt({ line: 1, column: 1 }, `Registry is larger than ${MAX_REGISTRY_BYTES} bytes`)]);
  }
  const { tokens, placeOf, problem } = readTokens(text);
  if (problem !== undefined) return unreadable([problem]);

  let document = compose(tokens, text.length);
  const warnings: RegistryProblem[] = [];
  if (document !== undefined && canReadLiterally(document.errors)) {
    for (const offset of readLiterally(document, document.errors)) {
      const message =
        'Invalid escape in double quotes: its backslashes are read literally; write the pattern in single quotes';
      warnings.push(problemAt(placeOf(offset), message));
    }
    document = compose(tokens, text.length);
  }
  if (document === undefined || (document.contents === null && document.errors.length === 0)) {
    return unreadable([problemAt({ line: 1, column: 1 }, 'Registry is empty: write version: 1 first')]);
  }
  const tree = readYamlTree(document, placeOf);
  const syntax = syntaxProblems(document.errors, placeOf);
  const problems = [...syntax, ...tree.problems];
  return { value: syntax.length > 0 ? undefined : tree.value, places: tree.places, problems, warnings };
}

const MAX_DEPTH = 32;
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

/** Undefined, with a problem, for a key that may not be here. */
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

/**
 * A composed YAML document → plain JSON and places.
 *
 * Refuses what JSON cannot hold or what would surprise: tags, duplicate, merge and `__proto__` keys, infinite numbers.
 * Aliases are followed by hand and counted, together with the values they bring, so a bomb costs no more than the limit.
 *
 * `value` is undefined when the walk had to stop.
 */
function readYamlTree(document: Document.Parsed, placeOf: (offset: number) => Place): YamlTree {
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
