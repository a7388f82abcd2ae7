/**
 * The answer of a foreign tool as data of a call: MCP's content blocks as they came, secrets taken out, and no more of
 * them than the operator lets travel. What does not fit is kept whole as an artifact; a failure is an error like any
 * other, with the words of the server.
 */
import type { CallToolResult } from '@modelcontextprotocol/client';
import { isJsonObject, type JsonObject, type JsonValue } from '@tool-runtime/protocol';
import type { ToolContext } from '@tool-runtime/sdk';
import { isTooDeep } from './schema-bounds.ts';
import { type FailureSubject, upstreamFailure } from './upstream-failure.ts';

export interface ForeignData {
  /** Blocks as MCP defines them: text, image, audio, resource_link, resource. */
  readonly content: readonly JsonObject[];
  /** The server's `structuredContent`. */
  readonly structured?: JsonValue;
  /** What was left out of `content` and `structured`, whole, as JSON. */
  readonly artifact?: { readonly handle: string; readonly bytes: number; readonly digest: string };
  readonly truncated?: true;
}

export interface ResultSetting extends FailureSubject {
  readonly context: Pick<ToolContext, 'artifacts' | 'warn'>;
}

const MAX_DEPTH = 64;
const MAX_SAID = 2000;
/** Members of blocks that mean something to a reader; `_meta` is between server and client. */
const BLOCK_MEMBERS = new Set([
  ...['type', 'text', 'data', 'mimeType', 'uri', 'name', 'title', 'description', 'size', 'resource', 'blob'],
]);

export function foreignResult(result: CallToolResult, setting: ResultSetting): ForeignData {
  const content = (result.content as unknown as readonly JsonObject[]).map((block) => cleanBlock(block, setting));
  if (result.isError === true) throw toolFailed(content, setting);
  const structured = cleanStructured(result.structuredContent as JsonValue | undefined, setting);
  const data: ForeignData = { content, ...(structured === undefined ? {} : { structured }) };
  const text = JSON.stringify(data);
  const limit = setting.settings.max_output_bytes;
  return Buffer.byteLength(text) <= limit ? data : boundedData(data, text, setting);
}

function cleanBlock(block: JsonObject, setting: ResultSetting): JsonObject {
  if (isTooDeep(block, MAX_DEPTH)) return { type: 'text', text: '[block left out: nested too deep]' };
  const members = Object.entries(block).filter(([key]) => BLOCK_MEMBERS.has(key));
  return redacted(Object.fromEntries(members), setting) as JsonObject;
}

function cleanStructured(value: JsonValue | undefined, setting: ResultSetting): JsonValue | undefined {
  if (value === undefined || !isTooDeep(value, MAX_DEPTH))
    return value === undefined ? value : redacted(value, setting);
  throw upstreamFailure(setting, 'Answer of the MCP server is nested too deep', { reason: 'invalid_answer' });
}

/** Base64 of pictures and sound is no text: what looks like a token in it is chance. */
function redacted(value: JsonValue, setting: ResultSetting): JsonValue {
  if (typeof value === 'string') return setting.redact(value);
  if (Array.isArray(value)) return value.map((item: JsonValue) => redacted(item, setting));
  if (!isJsonObject(value)) return value;
  const entries = Object.entries(value).map(([key, item]): [string, JsonValue] => [
    key,
    key === 'data' || key === 'blob' ? item : redacted(item, setting),
  ]);
  return Object.fromEntries(entries);
}

function toolFailed(content: readonly JsonObject[], setting: ResultSetting) {
  const said = content.flatMap(({ text }) => (typeof text === 'string' ? [text] : [])).join('\n');
  const [firstLine = ''] = said.split('\n', 1);
  const problem = `Tool of the MCP server failed${firstLine === '' ? '' : ` (${firstLine.slice(0, 200)})`}`;
  return upstreamFailure(setting, problem, { reason: 'tool_failed', said: said.slice(0, MAX_SAID) });
}

function boundedData(data: ForeignData, text: string, setting: ResultSetting): ForeignData {
  const writer = setting.context.artifacts.create();
  writer.write(Buffer.from(text));
  const artifact = writer.finish();
  const limit = setting.settings.max_output_bytes;
  const { structured } = data;
  const keepsStructure = structured !== undefined && Buffer.byteLength(JSON.stringify(structured)) <= limit / 2;
  let room = keepsStructure ? limit / 2 : limit;
  const content = data.content.map((block) => {
    const size = Buffer.byteLength(JSON.stringify(block));
    const kept = size <= room ? block : shortBlock(block, size, Math.max(0, room - 200));
    room -= Math.min(room, Buffer.byteLength(JSON.stringify(kept)));
    return kept;
  });
  setting.context.warn({
    code: 'E_POLICY',
    message: `Answer is longer than ${limit} bytes: the whole of it is ${artifact.handle}`,
    details: { reason: 'output_bound', artifact: artifact.handle, bytes: artifact.bytes },
  });
  return { content, ...(keepsStructure ? { structured } : {}), artifact, truncated: true };
}

function shortBlock(block: JsonObject, size: number, room: number): JsonObject {
  const { type, text } = block;
  if (type === 'text' && typeof text === 'string') {
    const head = Buffer.from(text)
      .subarray(0, Math.floor(room / 2))
      .toString('utf8')
      .replace(/\uFFFD$/, '');
    return { type: 'text', text: `${head}\n[… cut: the block has ${Buffer.byteLength(text)} bytes …]` };
  }
  const kind = typeof type === 'string' ? type.slice(0, 32) : 'block';
  return { type: 'text', text: `[${kind} of ${size} bytes left out]` };
}
