/** How a call's arguments appear in records: a redacted summary of one line, and a keyed digest. */
import type { JsonObject, JsonValue } from '@tool-runtime/protocol';
import { createKeyedDigest } from '../platform/digest.ts';
import { REDACTED } from '../redaction/find-values.ts';
import { isSecretMember, type Redactor } from '../redaction/redactor.ts';

const MAX_SUMMARY_CHARS = 512;
const MAX_TEXT_CHARS = 120;
/** How much of a long text is looked at at all. */
const WINDOW_CHARS = 2048;
const PLAIN_NAME = /^[\w.-]{1,64}$/;

/** `privateArgs` names the arguments of which only the size is shown. */
export type ArgsSummarizer = (args: JsonObject, privateArgs: readonly string[]) => string;

type ArgsHasher = (tool: string, args: JsonObject) => string;

/**
 * The summary is for people who read the journal. Text is redacted before it is cut: half of a secret might not be
 * recognized as one.
 */
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

/**
 * The digest that stands for a call's arguments in every record.
 *
 * Keyed, because arguments are often guessable: a plain hash of `{"path":"…"}` would give the path away to anyone who
 * tries a list. The tool is part of it, so that a key reused for another tool with equal arguments is a conflict.
 *
 * `hmac-sha256:` + hex over the canonical JSON of `[tool, args]`. Throws TypeError for what JSON cannot hold.
 */
export function createArgsHasher(masterKey: Uint8Array): ArgsHasher {
  const digest = createKeyedDigest(masterKey, 'tool-runtime args v1');
  return (tool, args) => `hmac-sha256:${digest(canonicalArgs([tool, args]))}`;
}

/**
 * Canonical JSON (RFC 8785) of parsed arguments, faster on small objects than the library. Takes plain JSON only: no
 * cycles, no `toJSON`. Gives the same text as `canonicalJson` and refuses the same values. Throws TypeError for what
 * JSON cannot hold: NaN, infinities, lone surrogates, undefined elements.
 */
export function canonicalArgs(value: JsonValue): string {
  switch (typeof value) {
    case 'string':
      return canonicalString(value);
    case 'number':
      if (!Number.isFinite(value)) throw new TypeError('Number has no JSON form');
      return JSON.stringify(value);
    case 'boolean':
      return value ? 'true' : 'false';
    case 'object':
      if (value === null) return 'null';
      return Array.isArray(value) ? canonicalList(value) : canonicalObject(value as JsonObject);
    default:
      throw new TypeError('Value has no JSON form');
  }
}

function canonicalString(value: string): string {
  if (!value.isWellFormed()) throw new TypeError('Text has a lone surrogate');
  return JSON.stringify(value);
}

function canonicalList(list: readonly JsonValue[]): string {
  let text = '[';
  for (const element of list) text += (text.length === 1 ? '' : ',') + canonicalArgs(element);
  return `${text}]`;
}

function canonicalObject(object: JsonObject): string {
  let text = '{';
  for (const key of Object.keys(object).sort()) {
    const value = object[key];
    // An optional argument that was not given may be present as undefined; JSON drops it.
    if (value === undefined) continue;
    text += `${text.length === 1 ? '' : ','}${canonicalString(key)}:${canonicalArgs(value)}`;
  }
  return `${text}}`;
}
