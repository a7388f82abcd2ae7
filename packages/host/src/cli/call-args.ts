/** Arguments as people type them: a JSON object, key=value pairs, --key value, @file, or - for stdin. */
import { readFileSync } from 'node:fs';
import { DEFAULT_MAX_BYTES, scanJson } from '@tool-runtime/protocol/internal';
import { FLAG, PAIR } from '../sessions/typed-words.ts';
import { badUsage, type UsageError } from '../terminal/bad-usage.ts';

/** An object, or words that the tool's JSON Schema is needed for: typed-words.ts. */
export type CallArgs = { readonly args: object } | { readonly words: readonly string[] };

/** Bad usage is found here, before anything is opened. */
export async function parseCallArgs(words: readonly string[]): Promise<CallArgs> {
  const [first] = words;
  if (first === undefined) return { args: {} };
  if (words.length > 1 || !/^(?:-$|@|\s*[{[])/.test(first)) return { words: checkedWords(words) };
  return { args: await parseSource(first) };
}

/** One word that stands for a JSON object: itself, @file, or - for stdin. */
export async function parseSource(word: string): Promise<object> {
  if (word === '-') return parseObject(await readStdin(), 'stdin');
  if (word.startsWith('@')) return parseObject(readNamedFile(word.slice(1)), word.slice(1));
  return parseObject(Buffer.from(word), 'arguments');
}

/** A word that cannot be read in any way is refused before anything is opened. */
function checkedWords(words: readonly string[]): readonly string[] {
  const isMisread = (word: string, at: number): boolean =>
    !PAIR.test(word) && !FLAG.test(word) && !FLAG.test(words[at - 1] ?? '');
  const misreadWord = words.find(isMisread);
  if (misreadWord !== undefined) throw misread(`Not a JSON object and not key=value: ${misreadWord}`);
  const keys = words.flatMap((word) => PAIR.exec(word)?.[1] ?? []);
  const twice = keys.find((key, at) => keys.indexOf(key) !== at);
  if (twice !== undefined) throw misread(`Argument is given twice: ${twice}`);
  return words;
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

export function misread(message: string): UsageError {
  return badUsage(message, 'for example: tool-runtime call file_read path=README.md, or --path README.md');
}
