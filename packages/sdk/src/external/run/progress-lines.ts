/**
 * The standard output of a tool: lines that announce progress become reports, everything else is kept within a bound.
 *
 * A tool may print without end: lines are only looked into while they can be announcements, and only so many.
 */
import { isJsonObject, type JsonObject, type JsonValue } from '@tool-runtime/protocol';
import type { CapturedStream } from '../../contracts/commands.ts';
import { OutputCapture } from '../../platform/processes/output-capture.ts';

export interface ToolProgress {
  /** 0 to 100; undefined where the tool only says what it is doing. */
  readonly pct: number | undefined;
  readonly message: string;
  readonly data: JsonObject;
}

const NEWLINE = 0x0a;
const OPEN_BRACE = 0x7b;
const MARK = Buffer.from('_progress"');
const TYPES = ['tool_progress', 'epack_progress'];
const MAX_LINE_BYTES = 16 * 1024;
const MAX_MESSAGE = 1024;
/** Beyond these a line is output like any other. */
const MAX_ANNOUNCEMENTS = 10_000;

export class ProgressLines {
  readonly #capture: OutputCapture;
  readonly #report: (progress: ToolProgress) => void;
  /** The beginning of a line that may become an announcement. */
  #pending: Buffer = Buffer.alloc(0);
  #isMidLine = false;
  #left = MAX_ANNOUNCEMENTS;

  constructor(maxBytes: number, report: (progress: ToolProgress) => void) {
    this.#capture = new OutputCapture(maxBytes);
    this.#report = report;
  }

  add(chunk: Uint8Array): void {
    let rest: Buffer = this.#pending.length === 0 ? Buffer.from(chunk) : Buffer.concat([this.#pending, chunk]);
    this.#pending = Buffer.alloc(0);
    while (rest.length > 0) rest = this.#take(rest);
  }

  finish(): CapturedStream {
    if (this.#pending.length > 0) this.#line(this.#pending);
    this.#pending = Buffer.alloc(0);
    return this.#capture.finish();
  }

  /** Takes from the front what can be decided; answers the rest. */
  #take(bytes: Buffer): Buffer {
    const start = this.#isMidLine || this.#left === 0 ? -1 : candidateAt(bytes);
    if (start === 0) return this.#candidate(bytes);
    // Up to the next line that could be one; without such a line everything is plain.
    const next = this.#left === 0 ? -1 : nextCandidate(bytes);
    const plain = next === -1 ? bytes : bytes.subarray(0, next);
    this.#capture.add(plain);
    this.#isMidLine = plain.at(-1) !== NEWLINE;
    return bytes.subarray(plain.length);
  }

  #candidate(bytes: Buffer): Buffer {
    const end = bytes.indexOf(NEWLINE);
    if (end === -1 && bytes.length <= MAX_LINE_BYTES) {
      this.#pending = Buffer.from(bytes);
      return Buffer.alloc(0);
    }
    const line = end === -1 ? bytes : bytes.subarray(0, end + 1);
    this.#line(line);
    this.#isMidLine = end === -1;
    return bytes.subarray(line.length);
  }

  #line(line: Buffer): void {
    const progress = line.length > MAX_LINE_BYTES || line.indexOf(MARK) === -1 ? undefined : this.#read(line);
    if (progress === undefined) this.#capture.add(line);
    else this.#report(progress);
  }

  #read(line: Buffer): ToolProgress | undefined {
    this.#left -= 1;
    return parseProgress(line.toString('utf8'));
  }
}

/** 0 when the bytes begin a line that could be an announcement, else -1. */
function candidateAt(bytes: Buffer): number {
  return bytes[0] === OPEN_BRACE ? 0 : -1;
}

function nextCandidate(bytes: Buffer): number {
  for (let brace = bytes.indexOf(OPEN_BRACE, 1); brace !== -1; brace = bytes.indexOf(OPEN_BRACE, brace + 1)) {
    if (bytes[brace - 1] === NEWLINE) return brace;
  }
  return -1;
}

/** Undefined for a line that is no announcement of this protocol. */
export function parseProgress(line: string): ToolProgress | undefined {
  let value: JsonValue;
  try {
    value = JSON.parse(line) as JsonValue;
  } catch {
    // Output that only looks like it.
    return undefined;
  }
  if (!isJsonObject(value) || !TYPES.includes(String(value['type'])) || value['protocol_version'] !== 1)
    return undefined;
  const { kind, message } = value as Record<string, JsonValue | undefined>;
  const text = typeof message === 'string' ? message.slice(0, MAX_MESSAGE) : '';
  if (kind === 'status') return { pct: undefined, message: text, data: { kind } };
  const { current, total } = value as Record<string, JsonValue | undefined>;
  if (kind !== 'progress' || typeof current !== 'number' || typeof total !== 'number') return undefined;
  const pct = total > 0 ? Math.min(100, Math.max(0, (100 * current) / total)) : undefined;
  return { pct, message: text, data: { kind, current, total } };
}
