/**
 * One line about a call's arguments for people who read the journal: redacted, short, never the content itself.
 *
 * Text is redacted before it is cut, so that a cut cannot take a secret's tell-tale beginning away from the rest of it.
 */
import type { JsonObject, JsonValue } from '@tool-runtime/protocol';
import { REDACTED } from '../redaction/find-values.ts';
import { isSecretMember, type Redactor } from '../redaction/redactor.ts';

const MAX_SUMMARY_CHARS = 512;
const MAX_TEXT_CHARS = 120;
/** How much of a long text is looked at at all. */
const WINDOW_CHARS = 2048;
const PLAIN_NAME = /^[\w.-]{1,64}$/;

/** `privateArgs` names the arguments of which only the size is told. */
export type ArgsSummarizer = (args: JsonObject, privateArgs: readonly string[]) => string;

export function createArgsSummarizer(redactor: Redactor): ArgsSummarizer {
  return (args, privateArgs) => {
    let line = '';
    for (const name of Object.keys(args)) {
      const value = args[name];
      if (value === undefined) continue;
      const shown = privateArgs.includes(name) ? `<${byteSize(value)} bytes>` : shownValue(name, value, redactor);
      line += `${line === '' ? '' : ' '}${shownName(name, redactor)}=${shown}`;
      if (line.length > MAX_SUMMARY_CHARS) break;
    }
    return cut(line, MAX_SUMMARY_CHARS);
  };
}

function shownName(name: string, redactor: Redactor): string {
  return PLAIN_NAME.test(name) ? name : shownText(name, redactor);
}

function shownValue(name: string, value: JsonValue, redactor: Redactor): string {
  if (isSecretMember(name, value)) return REDACTED;
  if (typeof value === 'string') return shownText(value, redactor);
  if (typeof value !== 'object' || value === null) return String(value);
  if (Array.isArray(value)) return `[${value.length} items]`;
  return `{${Object.keys(value).length} keys}`;
}

function shownText(text: string, redactor: Redactor): string {
  if (text.length <= WINDOW_CHARS) return JSON.stringify(cut(redactor.redactText(text), MAX_TEXT_CHARS));
  const clean = redactor.redactText(text.slice(0, WINDOW_CHARS));
  // When little is left, the end of the window is in sight, and with it half a secret that no pattern recognises.
  return JSON.stringify(clean.length > WINDOW_CHARS / 2 ? cut(clean, MAX_TEXT_CHARS) : `${REDACTED}…`);
}

function byteSize(value: JsonValue): number {
  return Buffer.byteLength(typeof value === 'string' ? value : JSON.stringify(value));
}

function cut(text: string, maxChars: number): string {
  return text.length <= maxChars ? text : `${text.slice(0, maxChars - 1)}…`;
}
