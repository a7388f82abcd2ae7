/** Text for a model, cut to a number of bytes with a marker that says so: an answer never floods a context window. */
import { utf8Length } from '@tool-runtime/protocol';

const DEFAULT_MAX_TEXT_BYTES = 32_768;

/** The whole text when it fits; otherwise its beginning, whole characters only, and the marker on a line of its own. */
export function boundText(text: string, maxBytes: number = DEFAULT_MAX_TEXT_BYTES): string {
  if (text.length * 3 <= maxBytes) return text;
  const total = utf8Length(text);
  if (total <= maxBytes) return text;
  const shown = cutToBytes(text, maxBytes);
  const marker = `[cut: ${utf8Length(shown)} of ${total} bytes shown; ask for a smaller part to see the rest]`;
  return `${shown}\n${marker}`;
}

function cutToBytes(text: string, maxBytes: number): string {
  const bytes = new TextEncoder().encode(text.slice(0, maxBytes));
  if (bytes.length <= maxBytes) return wholeCharacters(text.slice(0, maxBytes));
  let end = maxBytes;
  // Bytes of the form 10xxxxxx continue a character that began earlier.
  while (end > 0 && ((bytes[end] ?? 0) & 0xc0) === 0x80) end--;
  return new TextDecoder().decode(bytes.subarray(0, end));
}

function wholeCharacters(text: string): string {
  const last = text.charCodeAt(text.length - 1);
  return last >= 0xd800 && last <= 0xdbff ? text.slice(0, -1) : text;
}
