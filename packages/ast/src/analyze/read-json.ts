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
