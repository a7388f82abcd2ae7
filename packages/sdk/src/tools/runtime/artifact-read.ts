/** artifact_read: a page, the tail or the matching lines of a large output that another tool kept. */
import { ToolError } from '@tool-runtime/protocol';
import { z } from 'zod';
import type { ArtifactStore } from '../../contracts/artifacts.ts';
import { defineTool } from '../../contracts/tool.ts';
import { callText, type ToolText } from '../../contracts/tool-text.ts';
import { compilePattern, patternProblem } from '../../pattern/compile-pattern.ts';
import { counted } from '../../present/rows.ts';
import { wholeCharacters } from '../../text/encoding.ts';

const PAGE_DEFAULT = 65_536;
const PAGE_MAX = 5 * 1024 * 1024;
const CHUNK = 256 * 1024;
const LINE_CHARS = 2000;
const YIELD_EVERY = 16;

const args = z.strictObject({
  artifact: z.string().describe('Handle from an earlier answer, such as artifact:0123…'),
  offset: z.int().default(0).describe('Byte to start at; negative counts from the end'),
  max_bytes: z.int().min(1).max(PAGE_MAX).default(PAGE_DEFAULT).describe('Bytes to return at most'),
  tail_lines: z.int().min(1).max(100_000).optional().describe('Return the last lines instead of a page'),
  search: z.string().min(1).optional().describe('Return lines that match this regular expression (RE2 syntax)'),
  max_results: z.int().min(1).max(10_000).default(200).describe('Matching lines to return at most'),
});

const data = z.strictObject({
  content: z.string().describe('The page, or the last lines; empty when searching'),
  offset: z.int().describe('Byte the content starts at'),
  next_offset: z.int().nullable().describe('Where the next page starts; null at the end'),
  total_bytes: z.int(),
  matches: z.array(z.strictObject({ line: z.int(), text: z.string() })).optional(),
  truncated: z.boolean().describe('True when more lines matched than were returned'),
});

export const artifactRead = defineTool({
  name: 'artifact_read',
  category: 'artifact',
  title: 'Read artifact',
  summary: 'Read a page, the tail or the matching lines of a kept output',
  policyNotes: 'Only handles that an answer named can be read',
  args,
  data,
  annotations: { kind: 'read', side_effect_level: 'read_only', capabilities: { artifacts: ['read'] } },
  effect: 'read',
  risk: 'low',
  idempotent: true,
  timeoutMs: 30_000,
  measure: ({ content }) => content.length,
  hasLargeAnswers: true,
  present: presentArtifact,
  async run({ artifact, offset, max_bytes, tail_lines, search, max_results }, { artifacts, signal }) {
    if (search !== undefined) return searchLines(artifacts, { artifact, search, maxResults: max_results, signal });
    const page = await artifacts.read(artifact, {
      offset: tail_lines === undefined ? offset : -max_bytes,
      length: max_bytes,
    });
    // A character cut in two at the end belongs to the next page, unless it is all there is.
    const whole = wholeCharacters(page.bytes, 'utf-8') || page.bytes.length;
    const text = new TextDecoder('utf-8', { ignoreBOM: true }).decode(page.bytes.subarray(0, whole));
    const content = tail_lines === undefined ? text : lastLines(text, tail_lines);
    const end = page.offset + whole;
    return {
      content,
      offset: tail_lines === undefined ? page.offset : end - Buffer.byteLength(content),
      next_offset: end < page.totalBytes ? end : null,
      total_bytes: page.totalBytes,
      truncated: false,
    };
  },
});

function lastLines(text: string, count: number): string {
  const lines = text.split('\n');
  const isClosed = lines.at(-1) === '';
  return lines.slice(-(count + (isClosed ? 1 : 0))).join('\n');
}

interface Search {
  readonly artifact: string;
  readonly search: string;
  readonly maxResults: number;
  readonly signal: AbortSignal;
}

async function searchLines(artifacts: ArtifactStore, { artifact, search, maxResults, signal }: Search) {
  const problem = patternProblem(search);
  if (problem !== undefined) {
    throw new ToolError('E_VALIDATION_FAIL', problem, { path: 'search', details: { next: 'use RE2 syntax' } });
  }
  const pattern = compilePattern(search);
  const matches: { line: number; text: string }[] = [];
  let line = 0;
  let truncated = false;
  let totalBytes = 0;
  for await (const { text, total } of linesOf(artifacts, artifact, signal)) {
    line += 1;
    totalBytes = total;
    if (!pattern.test(text)) continue;
    truncated = matches.length === maxResults;
    if (truncated) break;
    matches.push({ line, text });
  }
  return { content: '', offset: 0, next_offset: null, total_bytes: totalBytes, matches, truncated };
}

/** Long lines are cut, so that one endless line costs no memory. */
async function* linesOf(artifacts: ArtifactStore, handle: string, signal: AbortSignal) {
  const decoder = new TextDecoder();
  let rest = '';
  let total = 0;
  for (let offset = 0, chunks = 1; ; chunks++) {
    signal.throwIfAborted();
    if (chunks % YIELD_EVERY === 0) await new Promise((resolve) => setImmediate(resolve));
    const page = await artifacts.read(handle, { offset, length: CHUNK });
    total = page.totalBytes;
    if (page.bytes.length === 0) break;
    offset += page.bytes.length;
    const lines = (rest + decoder.decode(page.bytes, { stream: true })).split('\n');
    rest = (lines.pop() ?? '').slice(0, LINE_CHARS);
    for (const text of lines) yield { text: text.slice(0, LINE_CHARS), total };
  }
  if (rest !== '') yield { text: rest, total };
}

function presentArtifact(page: z.output<typeof data>, { artifact, search }: z.output<typeof args>): ToolText {
  const { content, offset, next_offset, total_bytes, matches, truncated } = page;
  if (matches !== undefined) {
    const rows = matches.map(({ line, text }) => `${line}: ${text}`);
    const more = truncated ? '; there are more: narrow the search' : '';
    return {
      head: `${counted(matches.length, 'line')} of ${artifact} match ${search ?? ''}${more}`,
      parts: [{ type: 'text', text: rows, rest: () => callText('artifact_read', { artifact, search: '…' }) }],
    };
  }
  const from = (byte: number): string => callText('artifact_read', { artifact, offset: byte });
  const more = next_offset === null ? '' : `; more: ${from(next_offset)}`;
  return {
    head: `${artifact}: bytes ${offset} to ${offset + Buffer.byteLength(content)} of ${total_bytes}${more}`,
    parts: [{ type: 'text', text: content, rest: ({ bytes }) => from(offset + bytes) }],
  };
}
