/** Arguments as people type them: a JSON object, key=value pairs, --key value, @file, or - for stdin. */
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

const PAIR = /^(?:--)?([A-Za-z_][\w.-]*)=(.*)$/s;
const FLAG = /^--([A-Za-z_][\w-]*)$/;

/** A word that cannot be read in any way is refused before anything is opened. */
function splitPairs(words: readonly string[]): readonly string[] {
  const isMisread = (word: string, at: number): boolean =>
    !PAIR.test(word) && !FLAG.test(word) && !FLAG.test(words[at - 1] ?? '');
  const misreadWord = words.find(isMisread);
  if (misreadWord !== undefined) throw misread(`Not a JSON object and not key=value: ${misreadWord}`);
  const keys = words.flatMap((word) => PAIR.exec(word)?.[1] ?? []);
  const twice = keys.find((key, at) => keys.indexOf(key) !== at);
  if (twice !== undefined) throw misread(`Argument is given twice: ${twice}`);
  return words;
}

/** `--key value` takes the next word, unless the tool's schema says that it is a switch. */
function readPairs(words: readonly string[]): ArgsReader {
  return (schemaOf) => {
    const schema = schemaOf();
    const args = new Map<string, unknown>();
    for (let at = 0; at < words.length; at++) {
      const word = words[at] ?? '';
      const [, flag] = FLAG.exec(word) ?? [];
      const [, written = '', text = ''] = PAIR.exec(word) ?? [];
      const key = argumentName(flag ?? written, schema);
      const types = acceptedTypes(schema, key);
      if (args.has(key)) throw misread(`Argument is given twice: ${key}`);
      if (flag === undefined) args.set(key, parseValue(text, types));
      else if (isSwitch(types, words[at + 1])) args.set(key, true);
      else args.set(key, parseValue(wordAfter(word, words[++at]), types));
    }
    return Object.fromEntries(args);
  };
}

/** `--max-bytes` is max_bytes, where the tool has no argument with a dash. */
function argumentName(written: string, schema: object | undefined): string {
  return acceptedTypes(schema, written).size > 0 ? written : written.replaceAll('-', '_');
}

function isSwitch(types: ReadonlySet<string>, next: string | undefined): boolean {
  const isBoolean = types.has('boolean') && types.size === 1;
  return isBoolean && next !== 'true' && next !== 'false';
}

function wordAfter(flag: string, next: string | undefined): string {
  if (next === undefined) throw misread(`Argument has no value: ${flag}`);
  return next;
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
  return badUsage(message, 'for example: tool-runtime call file_read path=README.md, or --path README.md');
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
