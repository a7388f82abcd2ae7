/** Arguments as people type them: a JSON object, key=value pairs, @file, or - for stdin. */
import { readFileSync } from 'node:fs';
import { DEFAULT_MAX_BYTES, scanJson } from '@tool-runtime/protocol';
import { badUsage, type UsageError } from '../terminal/bad-usage.ts';

/** Finishes the arguments; asks for the tool's JSON Schema only if it decides what is text and what is JSON. */
export type ArgsReader = (schemaOf: () => object | undefined) => object;

/** Bad usage is found here, before anything is opened. */
export async function parseCallArgs(words: readonly string[]): Promise<ArgsReader> {
  const [first] = words;
  if (first === undefined) return () => ({});
  if (words.length > 1 || !/^(?:-$|@|\s*[{[])/.test(first)) return readPairs(splitPairs(words));
  const args = await parseSource(first);
  return () => args;
}

/** One word that stands for a JSON object: itself, @file, or - for stdin. */
export async function parseSource(word: string): Promise<object> {
  if (word === '-') return parseObject(await readStdin(), 'stdin');
  if (word.startsWith('@')) return parseObject(readNamedFile(word.slice(1)), word.slice(1));
  return parseObject(Buffer.from(word), 'arguments');
}

function splitPairs(words: readonly string[]): ReadonlyMap<string, string> {
  const pairs = new Map<string, string>();
  for (const word of words) {
    const [, key, text] = /^([A-Za-z_][\w.-]*)=(.*)$/s.exec(word) ?? [];
    if (key === undefined || text === undefined) throw misread(`Not a JSON object and not key=value: ${word}`);
    if (pairs.has(key)) throw misread(`Argument is given twice: ${key}`);
    pairs.set(key, text);
  }
  return pairs;
}

function readPairs(pairs: ReadonlyMap<string, string>): ArgsReader {
  return (schemaOf) => {
    const schema = schemaOf();
    return Object.fromEntries([...pairs].map(([key, text]) => [key, parseValue(text, acceptedTypes(schema, key))]));
  };
}

/** Text stays text where the tool takes text; elsewhere what reads as JSON is JSON. */
function parseValue(text: string, types: ReadonlySet<string>): unknown {
  const isTextOnly = types.has('string') && [...types].every((type) => type === 'string' || type === 'null');
  if (isTextOnly) return text === 'null' && types.has('null') ? null : text;
  try {
    return JSON.parse(text);
  } catch {
    return text;
  }
}

function parseObject(bytes: Uint8Array, from: string): object {
  let value: unknown;
  try {
    const text = new TextDecoder('utf-8', { fatal: true }).decode(bytes);
    scanJson(text);
    value = JSON.parse(text);
  } catch (thrown) {
    throw misread(`Arguments are not valid JSON (${from}): ${thrown instanceof Error ? thrown.message : 'unreadable'}`);
  }
  if (typeof value === 'object' && value !== null && !Array.isArray(value)) return value;
  throw misread(`Arguments are not a JSON object (${from})`);
}

function readNamedFile(path: string): Uint8Array {
  try {
    return readFileSync(path);
  } catch (thrown) {
    throw misread(`Cannot read the arguments: ${path} (${(thrown as NodeJS.ErrnoException).code ?? 'unreadable'})`);
  }
}

async function readStdin(): Promise<Uint8Array> {
  const chunks: Buffer[] = [];
  let length = 0;
  for await (const chunk of process.stdin) {
    length += (chunk as Buffer).length;
    if (length > DEFAULT_MAX_BYTES) throw misread(`Arguments are larger than the limit: ${DEFAULT_MAX_BYTES} bytes`);
    chunks.push(chunk as Buffer);
  }
  return Buffer.concat(chunks);
}

function misread(message: string): UsageError {
  return badUsage(message, 'for example: tool-runtime call file_read path=README.md');
}

/** Which JSON types a tool's JSON Schema lets an argument have. */

interface Property {
  readonly type?: string | readonly string[];
  readonly enum?: readonly unknown[];
  readonly const?: unknown;
  readonly anyOf?: readonly Property[];
  readonly oneOf?: readonly Property[];
}

/** Empty when the schema does not know the argument or does not say. */
export function acceptedTypes(schema: object | undefined, key: string): ReadonlySet<string> {
  const properties = (schema as { properties?: Record<string, Property> } | undefined)?.properties;
  const property = properties !== undefined && Object.hasOwn(properties, key) ? properties[key] : undefined;
  return new Set(property === undefined ? [] : typesOf(property));
}

function typesOf(property: Property): readonly string[] {
  const branches = property.anyOf ?? property.oneOf;
  if (branches !== undefined) return branches.flatMap(typesOf);
  if (property.type !== undefined) return [property.type].flat();
  if (property.enum !== undefined) return property.enum.map(typeOf);
  return 'const' in property ? [typeOf(property.const)] : [];
}

function typeOf(value: unknown): string {
  return value === null ? 'null' : typeof value;
}
