/**
 * The text of a cassette: a line for the file, then a line for each call, all of them JSON.
 *
 * `answer`, `events` and `files` may be edited by hand. What was asked may not: `sum` is a digest of it, and calls are
 * numbered without gaps. Unknown keys are refused. Every fault names its line.
 */
import { ERROR_CODES, type JsonObject, type JsonValue, ToolError } from '@tool-runtime/protocol';
import { describeIssues, isToolError, scanJson } from '@tool-runtime/protocol/internal';
import { z } from 'zod';
import type { RecordedFile } from '../contracts/cassette.ts';
import { canonicalJson, sha256Hex } from '../platform/digest.ts';
import { type KeptTool, keptToolSchema } from './kept-tools.ts';

export const MAX_FILE_BYTES = 64 * 1024 * 1024;
export const MAX_LINE_BYTES = 16 * 1024 * 1024;
const MAX_DEPTH = 100;
const VERSION = 1;
const SUM_DIGITS = 16;
const MAX_TOOLS = 10_000;

const json = z.custom<JsonValue>((value) => value !== undefined);
const object = z.custom<JsonObject>((value) => typeof value === 'object' && value !== null && !Array.isArray(value));
const mode = z.string().regex(/^[0-7]{3,4}$/, 'expected an octal mode such as 644');
const path = z.string().refine(isInside, 'expected a path relative to the workspace, without . and ..');

const entries = z
  .array(
    z.strictObject({
      code: z.enum(ERROR_CODES),
      message: z.string(),
      path: z.string().exactOptional(),
      details: object.exactOptional(),
    }),
  )
  .readonly();

const content = z.union([
  z.strictObject({ text: z.string() }),
  z.strictObject({ base64: z.base64() }),
  z.strictObject({ left_out: z.enum(['not_kept', 'too_large']) }),
]);

const fileSchema: z.ZodType<RecordedFile> = z.union([
  z.strictObject({ path, file: content, mode }),
  z.strictObject({ path, link: z.string().min(1).max(4096) }),
  z.strictObject({ path, folder: z.literal(true), mode }),
  z.strictObject({ path, absent: z.literal(true) }),
]);

const callSchema = z.strictObject({
  call: z.int().min(1),
  session: z.int().min(1),
  tool: z.string().max(256),
  args: json,
  sum: z.string(),
  answer: z.strictObject({
    ok: z.boolean(),
    data: json,
    errors: entries,
    warnings: entries,
    redacted: z.int().min(0).optional(),
    change_id: z.string().max(256).optional(),
  }),
  events: z
    .array(z.strictObject({ pct: z.number().min(0).max(100), message: z.string(), data: object.optional() }))
    .readonly()
    .optional(),
  files: z.array(fileSchema).readonly().optional(),
});

const headSchema = z.strictObject({ cassette: z.literal(VERSION), tools: z.array(keptToolSchema).max(MAX_TOOLS) });

export type CassetteCall = z.output<typeof callSchema>;

export interface CassetteText {
  readonly tools: readonly KeptTool[];
  readonly calls: readonly CassetteCall[];
  /** Bytes of whole lines: what follows was cut off while it was written. */
  readonly wholeBytes: number;
}

/** Whether the text begins as a cassette does: other files are not to be overwritten. */
export function looksLikeCassette(text: string): boolean {
  return text === '' || text.startsWith('{"cassette":');
}

/** Throws E_VALIDATION_FAIL with the line of the first fault. */
export function parseCassette(text: string, file: string): CassetteText {
  const lines = text.split('\n');
  const last = lines.pop() ?? '';
  const wholeText = last === '' || !isJson(last) ? text.slice(0, text.length - last.length) : text;
  if (wholeText === text && last !== '') lines.push(last);
  const [first, ...others] = lines;
  if (first === undefined) throw invalid(file, 1, 'The file has no whole line', 'record it again');
  const { tools } = parseLine(first, headSchema, { file, line: 1 });
  const calls = others.map((line, at) => checkCall(parseLine(line, callSchema, { file, line: at + 2 }), file, at));
  return { tools: tools as readonly KeptTool[], calls, wholeBytes: Buffer.byteLength(wholeText) };
}

export function headLine(tools: readonly KeptTool[]): string {
  return JSON.stringify({ cassette: VERSION, tools });
}

/** Throws E_VALIDATION_FAIL for a line that could not be read again. */
export function callLine(call: Omit<CassetteCall, 'sum'>): string {
  const { call: number, session, tool, args, answer, events = [], files = [] } = call;
  const asked = { call: number, session, tool, args };
  const line = JSON.stringify({
    ...asked,
    sum: sumOf(asked),
    answer,
    ...(events.length === 0 ? {} : { events }),
    ...(files.length === 0 ? {} : { files }),
  });
  scanJson(line, { maxBytes: MAX_LINE_BYTES, maxDepth: MAX_DEPTH });
  return line;
}

function sumOf(asked: Pick<CassetteCall, 'call' | 'session' | 'tool' | 'args'>): string {
  const { call, session, tool, args } = asked;
  return sha256Hex(canonicalJson({ call, session, tool, args })).slice(0, SUM_DIGITS);
}

function isJson(text: string): boolean {
  try {
    JSON.parse(text);
    return true;
  } catch {
    return false;
  }
}

interface Spot {
  readonly file: string;
  readonly line: number;
}

function parseLine<S extends z.ZodType>(text: string, schema: S, { file, line }: Spot): z.output<S> {
  try {
    scanJson(text, { maxBytes: MAX_LINE_BYTES, maxDepth: MAX_DEPTH });
  } catch (thrown) {
    if (!isToolError(thrown)) throw thrown;
    throw invalid(file, line, thrown.message, 'undo the edit, or record it again');
  }
  const value: unknown = JSON.parse(text);
  const parsed = schema.safeParse(value);
  if (parsed.success) return parsed.data;
  const next = 'edit only answer, events and files, with the keys they have; or record it again';
  throw invalid(file, line, describeIssues(parsed.error, value).message, next);
}

function checkCall(call: CassetteCall, file: string, at: number): CassetteCall {
  const line = at + 2;
  if (call.call !== at + 1) {
    const what = `call: expected ${at + 1}, found ${call.call}; lines were removed, added or moved`;
    throw invalid(file, line, what, 'only the end may be cut off; record it again');
  }
  if (call.sum === sumOf(call)) return call;
  const what = 'sum: does not fit session, tool and args, which may not be edited';
  throw invalid(file, line, what, 'undo the edit, or record the call again');
}

function invalid(file: string, line: number, what: string, next: string): ToolError {
  return new ToolError('E_VALIDATION_FAIL', `Cassette is invalid, ${file}:${line}: ${what}`, {
    path: file,
    details: { gate: 'cassette', reason: 'invalid_cassette', line, next },
  });
}

function isInside(text: string): boolean {
  if (text === '' || text.includes('\0') || text.startsWith('/')) return false;
  return text.split('/').every((name) => name !== '' && name !== '.' && name !== '..');
}
