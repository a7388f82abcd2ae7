/**
 * The arguments of a call: which secrets they bring along, and how they are shown.
 *
 * Where to look is what the tool declares about its arguments, so a new tool needs no line here.
 */
import type { JsonObject, JsonValue } from '@tool-runtime/protocol';
import type { ToolArgSchema } from '../contracts/annotations.ts';
import { REDACTED } from './find-values.ts';
import { redactArgv, redactCommandLine } from './redact-command.ts';
import { headerSecrets, type OnSecret, redactUrls } from './redact-words.ts';
import { type FoundSecrets, isSecretMember, type Redactor } from './redactor.ts';
import { isSecretHeader, isSecretVariable } from './secret-names.ts';

type Places = Pick<ToolArgSchema, 'env_params' | 'header_params' | 'command_params' | 'url_params'>;

/** Names decide here whether a value is secret: shorter ones (`true`, `basic`) would be looked for in vain. */
const MIN_LENGTH = 6;
/** Where a listing continues: from one answer to the next call. */
const BOOKMARK = /(?:page|next|continuation|cursor|sync|resume|start)[_-]?token$/i;

/** Letters alone or digits alone are words and figures of ordinary text (`postgres`, `development`, `123456`). */
const WORD = /^(?:\p{L}+|\p{N}+)$/u;

/**
 * Values of variables, headers and URLs that are credentials by their place are known. The rest is suspected: what a
 * name announces in a command, a query or any other argument. The arguments may be of any shape.
 */
export function secretsIn(args: unknown, places: Places): Required<FoundSecrets> {
  if (typeof args !== 'object' || args === null) return { known: [], suspected: [] };
  const known = new Set<string>();
  const suspected = new Set<string>();
  const note: Note = (value, isCredential) => {
    for (const form of [value, decoded(value)]) {
      if (form.length < MIN_LENGTH || form === REDACTED) continue;
      if (isCredential && !WORD.test(form)) known.add(form);
      else suspected.add(form);
    }
  };
  showArgs(args as JsonObject, places, note);
  return { known: [...known], suspected: [...suspected] };
}

/** A copy with every secret covered; the rest stays as it was sent. */
export function shownArgs(args: JsonObject, places: Places, redactor: Redactor): JsonObject {
  return redactor.known.json(showArgs(args, places, () => {}));
}

type Note = (value: string, isCredential: boolean) => void;

function showArgs(args: JsonObject, places: Places, note: Note): JsonObject {
  const guess: OnSecret = (value) => note(value, false);
  const shown: Record<string, JsonValue> = {};
  const cover = (names: readonly string[], change: (value: JsonValue) => JsonValue): void => {
    for (const name of names) {
      const value = args[name];
      if (value !== undefined && value !== null) shown[name] = change(value);
    }
  };
  cover(places.env_params, (value) => mapEntries(value, (name, text) => showVariable(name, text, note)));
  cover(places.header_params, (value) => mapEntries(value, (name, text) => showHeader(name, text, note)));
  cover(places.command_params, (value) => showCommand(value, guess));
  cover(places.url_params, (value) => showUrls(value, note));
  const others = Object.entries(args).filter(([name]) => !(name in shown));
  for (const [name, value] of others) shown[name] = showMember(name, value, guess);
  // In the order they came.
  return Object.fromEntries(Object.keys(args).map((name) => [name, shown[name] ?? null]));
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
