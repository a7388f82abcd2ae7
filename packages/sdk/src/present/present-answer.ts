/**
 * A response as a model or a person reads it: warnings, then what the tool says about its answer, then the content, all
 * within one limit. The data of a response has lost its secrets already, so its text has too.
 */
import { type ErrorEntry, isJsonObject, type JsonObject, type JsonValue } from '@tool-runtime/protocol';
import { describeError } from '@tool-runtime/protocol/internal';
import type { AnyTool } from '../contracts/tool.ts';
import type {
  AnswerPart,
  AnswerPrice,
  BlockPart,
  PresentedAnswer,
  TextPart,
  ToolText,
} from '../contracts/tool-text.ts';
import { BYTES_PER_TOKEN, type FittedTexts, fitParts, type Room } from './fit-parts.ts';

/** Of a response, the part that is shown. */
export interface ShownResponse {
  readonly ok: boolean;
  readonly data: JsonValue;
  readonly errors: readonly ErrorEntry[];
  readonly warnings: readonly ErrorEntry[];
}

export interface Presenting {
  /** Undefined for a name that is no tool: then there is only a refusal to show. */
  readonly tool: Pick<AnyTool, 'present'> | undefined;
  readonly args: JsonValue;
  readonly maxTokens: number;
  /** A limit of the caller's own, in bytes, where it is lower. */
  readonly maxBytes?: number | undefined;
}

/** Room for a note and a few words; a lower limit counts as this. */
const LEAST_BYTES = 1024;
const IMAGE_TOKENS = 1600;
/** All of them together: providers of models take 5 MB in one picture, and MCP clients 10 MiB in one message. */
const MAX_BLOCK_CHARACTERS = 4_500_000;

export function presentAnswer(response: ShownResponse, presenting: Presenting): PresentedAnswer {
  const room = roomOf(presenting);
  const { head, parts } = response.ok ? toolText(response, presenting) : errorText(response.errors);
  // What went wrong comes before what is only worth knowing; of an answer the warnings come first, or they are overlooked.
  const warnings = response.warnings.map(warningText);
  const texts = parts.filter(
    (part): part is TextPart => part.type === 'text' && (part.text.length > 0 || part.title !== undefined),
  );
  const given = parts.filter((part): part is BlockPart => part.type === 'block').map(({ block }) => block);
  const blocks = thoseThatFit(given);
  const heads = [head, ...leftOut(given.length - blocks.length)];
  if (response.ok) heads.unshift(...warnings);
  else for (const warning of warnings) texts.push({ type: 'text', text: warning });
  const leading = heads.filter((text) => text !== '').join('\n');
  // At least half of the room is for the content, unless there is none.
  const headRoom = texts.length === 0 ? room.bytes : Math.floor(room.bytes / 2);
  const shownHead = leading === '' ? NOTHING_SHOWN : fitParts([{ type: 'text', text: leading }], room, headRoom);
  const used = shownHead.texts.reduce((sum, text) => sum + Buffer.byteLength(text) + 1, 0);
  const shown = fitParts(texts, room, room.bytes - used);
  const text = [...shownHead.texts, ...shown.texts].join('\n');
  const isCut = shownHead.isCut || shown.isCut || blocks.length < given.length;
  return { text, blocks, price: priceOf(text, blocks, isCut), maxBytes: room.bytes };
}

const NOTHING_SHOWN: FittedTexts = { texts: [], isCut: false };

function roomOf({ maxTokens, maxBytes }: Presenting): Room {
  const bytes = maxTokens * BYTES_PER_TOKEN;
  if (maxBytes === undefined || maxBytes >= bytes) {
    return { bytes: Math.max(LEAST_BYTES, bytes), limit: `${maxTokens} tokens (limits.max_answer_tokens)` };
  }
  return { bytes: Math.max(LEAST_BYTES, maxBytes), limit: `${Math.max(LEAST_BYTES, maxBytes)} bytes` };
}

interface Shown {
  readonly head: string;
  readonly parts: readonly AnswerPart[];
}

function toolText({ data }: ShownResponse, { tool, args }: Presenting): Shown {
  const text = presented(tool, data, args) ?? plainRows(data);
  if (typeof text === 'string') return { head: '', parts: [{ type: 'text', text }] };
  return { head: text.head ?? '', parts: text.parts ?? [] };
}

/** Undefined where the tool says nothing, or cannot read what is there: the rows can. */
function presented(tool: Presenting['tool'], data: JsonValue, args: JsonValue): string | ToolText | undefined {
  try {
    return tool?.present?.(data, args);
  } catch {
    return undefined;
  }
}

/** Errors with what they carry: further violations, names, and what a program printed before it was stopped. */
function errorText(errors: readonly ErrorEntry[]): Shown {
  const parts = errors.flatMap(({ details = {}, message }): TextPart[] => [
    { type: 'text', text: violationRows(details) },
    ...Object.entries(details).flatMap(([name, value]) => namesIn(name, value, message)),
    ...['stdout', 'stderr', 'output', 'said'].flatMap((name) => printed(details, name)),
  ]);
  return { head: errors.map(describeError).join('\n\n'), parts };
}

/** Files, commits and other names that an error lists, unless its message has them all. */
function namesIn(name: string, value: JsonValue, message: string): TextPart[] {
  if (!Array.isArray(value) || value.length === 0) return [];
  const names = value.filter((one) => typeof one === 'string');
  if (names.length < value.length || names.every((one) => message.includes(one))) return [];
  return [{ type: 'text', text: [`${name}:`, ...names.map((one) => `  ${one}`)] }];
}

/** A rule that found several things reports them together; the message names the first. */
function violationRows({ violations }: JsonObject): readonly string[] {
  if (!Array.isArray(violations)) return [];
  return violations.filter(isJsonObject).map(({ message, path, line, next }) => {
    const place = typeof path === 'string' ? `${path}${typeof line === 'number' ? `:${line}` : ''}: ` : '';
    return `- ${place}${String(message)}${typeof next === 'string' ? ` (next: ${next})` : ''}`;
  });
}

function warningText(warning: ErrorEntry): string {
  return [`warning: ${describeError(warning)}`, ...violationRows(warning.details ?? {})].join('\n');
}

function printed(details: JsonObject, name: string): TextPart[] {
  const text = details[name];
  if (typeof text !== 'string' || text === '') return [];
  const artifact = details[`${name}_artifact`];
  const rest =
    typeof artifact === 'string' ? `artifact_read {"artifact":"${artifact}"}` : 'run it again and print less';
  return [{ type: 'text', text: `${name}:\n${text}`, keep: 'ends', rest: () => rest }];
}

function thoseThatFit(blocks: readonly JsonObject[]): readonly JsonObject[] {
  let left = MAX_BLOCK_CHARACTERS;
  return blocks.filter((block) => {
    const size = JSON.stringify(block).length;
    const fits = size <= left;
    if (fits) left -= size;
    return fits;
  });
}

function leftOut(count: number): readonly string[] {
  if (count === 0) return [];
  return [
    `[cut: ${count} pictures or documents left out; an answer carries at most ${MAX_BLOCK_CHARACTERS} characters of them]`,
  ];
}

function priceOf(text: string, blocks: readonly JsonObject[], cut: boolean): AnswerPrice {
  const bytes = Buffer.byteLength(text);
  const sizes = blocks.map((block) => Buffer.byteLength(JSON.stringify(block)));
  const blockTokens = blocks.reduce(
    (sum, { type }, at) => sum + (type === 'image' ? IMAGE_TOKENS : Math.ceil((sizes[at] ?? 0) / BYTES_PER_TOKEN)),
    0,
  );
  return {
    bytes: sizes.reduce((sum, size) => sum + size, bytes),
    tokens: Math.ceil(bytes / BYTES_PER_TOKEN) + blockTokens,
    cut,
  };
}

const ROW = 160;

/** Any data as rows of `key: value`, for tools that do not say how their answer reads. Never escaped, never JSON. */
export function plainRows(value: JsonValue | undefined): string {
  return rowsOf(value).join('\n');
}

function rowsOf(value: JsonValue | undefined): readonly string[] {
  if (Array.isArray(value)) return value.length === 0 ? ['none'] : value.flatMap(listItem);
  if (!isJsonObject(value)) return scalar(value).split('\n');
  const entries = Object.entries(value).filter(([, inner]) => inner !== undefined);
  return entries.length === 0 ? ['nothing'] : entries.flatMap(([key, inner]) => field(key, inner));
}

function field(key: string, value: JsonValue | undefined): readonly string[] {
  const row = oneLine(value);
  if (row !== undefined && key.length + row.length < ROW) return [`${key}: ${row}`];
  return [`${key}:`, ...rowsOf(value).map((line) => `  ${line}`)];
}

function listItem(value: JsonValue): readonly string[] {
  const row = oneLine(value);
  if (row !== undefined && row.length < ROW) return [`- ${row}`];
  return rowsOf(value).map((line, at) => (at === 0 ? `- ${line}` : `  ${line}`));
}

/** Undefined for what needs lines of its own. */
function oneLine(value: JsonValue | undefined): string | undefined {
  if (Array.isArray(value)) {
    if (value.length === 0) return 'none';
    const items = value.map((item: JsonValue) => (isPlain(item) ? scalar(item) : undefined));
    return items.every((item) => item !== undefined && !/[\n,]/.test(item)) ? items.join(', ') : undefined;
  }
  if (isJsonObject(value)) {
    const entries = Object.entries(value).filter(([, inner]) => inner !== undefined);
    if (!entries.every(([, inner]) => isPlain(inner) && !scalar(inner).includes('\n'))) return undefined;
    return entries.map(([key, inner]) => `${key}: ${scalar(inner)}`).join(', ');
  }
  const text = scalar(value);
  return text.includes('\n') ? undefined : text;
}

function isPlain(value: JsonValue | undefined): boolean {
  return typeof value !== 'object' || value === null;
}

function scalar(value: JsonValue | undefined): string {
  return value === null || value === undefined ? 'none' : String(value);
}
