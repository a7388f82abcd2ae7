/** An analyzer's output as JSON, bounded in size and depth. */
import { type JsonObject, scanJson, ToolError, toToolError, utf8Length } from '@tool-runtime/protocol';

export const MAX_ANALYSIS_BYTES = 32 * 1024 * 1024;
const MAX_DEPTH = 128;
const MARK = '\uFEFF';

/** Throws E_VALIDATION_FAIL. */
export function readJson(text: string, format: string): unknown {
  const body = text.startsWith(MARK) ? text.slice(1) : text;
  if (body.trim() === '') throw notOfFormat(format, 'there is no output', { reason: 'empty' });
  return parse(body, format);
}

/** One JSON value per line; no line at all is an empty list. Throws E_VALIDATION_FAIL. */
export function readJsonLines(text: string, format: string): unknown[] {
  if (utf8Length(text) > MAX_ANALYSIS_BYTES) {
    throw notOfFormat(format, `more than ${MAX_ANALYSIS_BYTES} bytes`, { reason: 'too_large' });
  }
  const lines = text.split('\n').filter((line) => line.trim() !== '');
  return lines.map((line) => parse(line, format));
}

export function notOfFormat(format: string, problem: string, details: JsonObject = {}): ToolError {
  return new ToolError('E_VALIDATION_FAIL', `Output is not ${format}: ${problem}`, {
    details: { reason: 'wrong_shape', format, next: 'check the format and the arguments of the analyzer', ...details },
  });
}

function parse(text: string, format: string): unknown {
  try {
    scanJson(text, { maxBytes: MAX_ANALYSIS_BYTES, maxDepth: MAX_DEPTH });
    return JSON.parse(text);
  } catch (thrown) {
    const { message, details } = toToolError(thrown);
    throw notOfFormat(format, message, details);
  }
}

const LARGEST = 2_147_483_647;

/**
 * Reads fields of unchecked JSON: what is missing or of another type is simply undefined.
 *
 * The value at the end of the names; only own properties count.
 */
export function at(value: unknown, ...names: readonly (string | number)[]): unknown {
  let current = value;
  for (const name of names) {
    if (typeof current !== 'object' || current === null || !Object.hasOwn(current, name)) return undefined;
    current = (current as Record<string | number, unknown>)[name];
  }
  return current;
}

export function textOf(value: unknown): string | undefined {
  return typeof value === 'string' ? value : undefined;
}

export function filledText(value: unknown): string | undefined {
  return typeof value === 'string' && value.trim() !== '' ? value : undefined;
}

export function wholeNumber(value: unknown, least = 0): number | undefined {
  const fits = typeof value === 'number' && Number.isInteger(value) && value >= least && value <= LARGEST;
  return fits ? value : undefined;
}

export function listOf(value: unknown): readonly unknown[] {
  return Array.isArray(value) ? value : [];
}

export function isObject(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

export function webAddress(value: unknown): string | undefined {
  return typeof value === 'string' && /^https?:\/\/\S{1,2000}$/i.test(value) ? value : undefined;
}
