/** Arguments that come as text, as models write them: empty means none, and what is no JSON is told to the model. */
import { type ErrorEntry, scanJson, ToolError, toToolError } from '@tool-runtime/protocol';

export type ParsedArguments =
  | { readonly ok: true; readonly args: unknown }
  | { readonly ok: false; readonly error: ErrorEntry };

export function parseArguments(text: string): ParsedArguments {
  if (text.trim() === '') return { ok: true, args: {} };
  try {
    scanJson(text);
    return { ok: true, args: JSON.parse(text) };
  } catch (thrown) {
    const { code, message, details } = toToolError(thrown);
    const words = { gate: 'arguments', next: 'send the arguments as one JSON object', ...details };
    return {
      ok: false,
      error: new ToolError(code, `Arguments cannot be read: ${message}`, { details: words }).toEntry(),
    };
  }
}
