/** Arguments as people type them: a JSON object, key=value pairs, @file, or - for stdin. */
import { readFileSync } from 'node:fs';
import { DEFAULT_MAX_BYTES, scanJson } from '@tool-runtime/protocol';
import { badUsage, type UsageError } from './bad-usage.ts';
import { acceptedTypes } from './schema-types.ts';

/** `schemaOf` gives the tool's JSON Schema, where it is known: it decides whether a value is text or JSON. */
export async function parseCallArgs(words: readonly string[], schemaOf: () => object | undefined): Promise<object> {
  const [first] = words;
  if (first === undefined) return {};
  if (words.length === 1 && first === '-') return parseObject(await readStdin(), 'stdin');
  if (words.length === 1 && first.startsWith('@')) return parseObject(readNamedFile(first.slice(1)), first.slice(1));
  if (words.length === 1 && /^\s*[{[]/.test(first)) return parseObject(Buffer.from(first), 'arguments');
  return parsePairs(words, schemaOf());
}

function parsePairs(words: readonly string[], schema: object | undefined): object {
  const pairs = new Map<string, unknown>();
  for (const word of words) {
    const match = /^([A-Za-z_][\w.-]*)=(.*)$/s.exec(word);
    if (match?.[1] === undefined || match[2] === undefined)
      throw misread(`Not a JSON object and not key=value: ${word}`);
    const [, key, text] = match;
    if (pairs.has(key)) throw misread(`Argument is given twice: ${key}`);
    pairs.set(key, parseValue(text, acceptedTypes(schema, key)));
  }
  return Object.fromEntries(pairs);
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
