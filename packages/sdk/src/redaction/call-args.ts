/**
 * The arguments of a call: which secrets they bring along, and how they are shown.
 *
 * Where to look is what the tool declares about its arguments, so a new tool needs no line here.
 */
import type { JsonObject, JsonValue } from '@tool-runtime/protocol';
import type { ToolArgSchema } from '../contracts/annotations.ts';
import { REDACTED } from './find-values.ts';
import {
  headerSecrets,
  isSecretHeader,
  isSecretVariable,
  type OnSecret,
  redactArgv,
  redactCommandLine,
  redactUrls,
} from './redact-words.ts';
import { type FoundSecrets, isSecretMember, type Redactor } from './redactor.ts';

type Places = Pick<ToolArgSchema, 'env_params' | 'header_params' | 'command_params' | 'url_params'>;

/** Names decide here whether a value is secret: shorter ones (`true`, `basic`) would be looked for in vain. */
const MIN_LENGTH = 6;
/** Where a listing continues: from one answer to the next call. */
const BOOKMARK = /(?:page|next|continuation|cursor|sync|resume|start)[_-]?token$/i;

/**
 * Values of variables, headers and URLs that are credentials by their place are known. The rest is suspected: what a
 * name announces in a command, a query or any other argument. The arguments may be of any shape.
 */
export function secretsIn(args: unknown, places: Places): Required<FoundSecrets> {
  if (typeof args !== 'object' || args === null) return NO_SECRETS;
  let found: { known: Set<string>; suspected: Set<string> } | undefined;
  const note: Note = (value, isCredential) => {
    for (const form of [value, decoded(value)]) {
      if (form.length < MIN_LENGTH || form === REDACTED) continue;
      found ??= { known: new Set(), suspected: new Set() };
      // Letters alone or digits alone are words and figures of ordinary text (`postgres`, `development`, `123456`).
      if (isCredential && !/^(?:\p{L}+|\p{N}+)$/u.test(form)) found.known.add(form);
      else found.suspected.add(form);
    }
  };
  for (const name of Object.keys(args)) showArg(name, (args as JsonObject)[name], places, note);
  return found === undefined ? NO_SECRETS : { known: [...found.known], suspected: [...found.suspected] };
}

const NO_SECRETS: Required<FoundSecrets> = { known: [], suspected: [] };

/** A copy with every secret covered; the rest stays as it was sent. */
export function shownArgs(args: JsonObject, places: Places, redactor: Redactor): JsonObject {
  const shown: Record<string, JsonValue> = {};
  for (const name of Object.keys(args)) {
    if (name !== '__proto__') shown[name] = showArg(name, args[name], places, ignore) ?? null;
  }
  return redactor.known.json(shown);
}

function ignore(): void {}

type Note = (value: string, isCredential: boolean) => void;

/** One argument, shown as its places ask for; where several name it, the last one decides and all are told of secrets. */
function showArg(name: string, value: JsonValue | undefined, places: Places, note: Note): JsonValue | undefined {
  if (value === undefined || value === null) return value;
  const guess: OnSecret = (secret) => note(secret, false);
  let shown: JsonValue | undefined;
  if (places.env_params.includes(name))
    shown = mapEntries(value, (variable, text) => showVariable(variable, text, note));
  if (places.header_params.includes(name)) shown = mapEntries(value, (header, text) => showHeader(header, text, note));
  if (places.command_params.includes(name)) shown = showCommand(value, guess);
  if (places.url_params.includes(name)) shown = showUrls(value, note);
  return shown === undefined ? showMember(name, value, guess) : shown;
}

/** Where nothing is declared a name still tells, and a list of words may be the arguments of a program. */
function showMember(name: string, value: JsonValue, note: OnSecret): JsonValue {
  if (typeof value === 'string') {
    if (!isSecretMember(name, value) || BOOKMARK.test(name)) return value;
    note(value);
    return REDACTED;
  }
  if (typeof value !== 'object' || value === null) return value;
  if (Array.isArray(value)) {
    const isWords = value.every((word) => typeof word === 'string');
    return isWords ? redactArgv(value as readonly string[], note) : value.map((item) => showMember('', item, note));
  }
  const members = Object.entries(value as JsonObject);
  return Object.fromEntries(members.map(([inner, item]) => [inner, showMember(inner, item, note)]));
}

function mapEntries(value: JsonValue, show: (name: string, text: string) => string): JsonValue {
  if (typeof value !== 'object' || value === null || Array.isArray(value)) return value;
  const entries = Object.entries(value as JsonObject).map(([name, item]): [string, JsonValue] => [
    name,
    typeof item === 'string' ? show(name, item) : item,
  ]);
  return Object.fromEntries(entries);
}

function showVariable(name: string, value: string, note: Note): string {
  if (!isSecretVariable(name)) return redactUrls(value, note);
  note(value, true);
  return value === '' ? value : REDACTED;
}

function showHeader(name: string, value: string, note: Note): string {
  if (!isSecretHeader(name)) return value;
  for (const secret of headerSecrets(value)) note(secret, true);
  return value === '' ? value : REDACTED;
}

function showCommand(value: JsonValue, note: OnSecret): JsonValue {
  if (typeof value === 'string') return redactCommandLine(value, note);
  const isWords = Array.isArray(value) && value.every((word) => typeof word === 'string');
  return isWords ? redactArgv(value as readonly string[], note) : value;
}

function showUrls(value: JsonValue, note: Note): JsonValue {
  if (typeof value === 'string') return redactUrls(value, note);
  return Array.isArray(value) ? value.map((item: JsonValue) => showUrls(item, note)) : value;
}

function decoded(value: string): string {
  try {
    return decodeURIComponent(value);
  } catch {
    // Not percent-encoded.
    return value;
  }
}
