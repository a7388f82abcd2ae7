/**
 * The text of a token file: one token per line, `<token> [scopes=read,call] [expires=<ISO time>] [name=<id>]`, with `#`
 * for comments and `sha256:<hex>` where the token itself should not stand.
 *
 * Only the first plain token, the main one, may leave out its scopes and then has all. All others state them: else
 * removing the main token would hand its rights to the next in line. A refusal names the line, never what is in it.
 */
import { SCOPES, type Scope, ToolError } from '@tool-runtime/protocol';
import { digestToken, MAX_TOKEN_BYTES, MIN_TOKEN_LENGTH, TOKEN_FORM } from './token-digest.ts';

export interface TokenEntry {
  /** Of the file, from 1. */
  readonly line: number;
  /** As stated, else `main` or the beginning of the digest. Unique in the file. */
  readonly name: string;
  /** Of the token, in hex. */
  readonly sha256: string;
  readonly scopes: ReadonlySet<Scope>;
  /** Milliseconds since 1970. */
  readonly expiresAt?: number;
}

export interface TokenLines {
  readonly entries: readonly TokenEntry[];
  /** The first one that is there in plain text. */
  readonly mainToken: string | undefined;
}

const MAIN_NAME = 'main';
/** Of an id that is safe in a journal, a log and a shell. */
export const NAME_FORM = /^[A-Za-z0-9][A-Za-z0-9._-]{0,63}$/;

const DIGEST = /^sha256:([0-9a-f]{64})$/i;
const TIME = /^(\d{4}-\d\d-\d\d)T\d\d:\d\d(?::\d\d(?:\.\d{1,9})?)?(?:Z|[+-]\d\d:\d\d)$/;
const KEYS = ['scopes', 'expires', 'name'] as const;
type Key = (typeof KEYS)[number];

/** Throws E_VALIDATION_FAIL for the first line that is wrong. `source` is how the message names the file. */
export function parseTokenLines(text: string, source: string): TokenLines {
  const entries: TokenEntry[] = [];
  let mainToken: string | undefined;
  for (const [index, content] of text
    .replace(/^\uFEFF/, '')
    .split(/\r?\n/)
    .entries()) {
    const words = wordsOf(content);
    const [first, ...rest] = words;
    if (first === undefined) continue;
    const place: Place = { source, line: index + 1 };
    const isMain = mainToken === undefined && !first.startsWith('sha256:');
    const entry = parseEntry(place, { token: first, attributes: rest, isMain });
    if (isMain) mainToken = first;
    refuseTwin(place, entry, entries);
    entries.push(entry);
  }
  return { entries, mainToken };
}

/** The line of a token by its digest. */
export function formatTokenLine({ name, sha256, scopes, expiresAt }: Omit<TokenEntry, 'line'>): string {
  const expiry = expiresAt === undefined ? '' : ` expires=${new Date(expiresAt).toISOString()}`;
  return `sha256:${sha256} scopes=${[...scopes].join(',')}${expiry} name=${name}`;
}

/** How a token without a name is called. */
export function nameOfDigest(sha256: string): string {
  return `token-${sha256.slice(0, 12)}`;
}

export function parseScopes(text: string): ReadonlySet<Scope> | undefined {
  const words = text.split(',');
  return words.every(isScope) ? new Set(words) : undefined;
}

/** With a date that exists and a zone; undefined otherwise. */
export function parseTime(text: string): number | undefined {
  const date = TIME.exec(text)?.[1];
  const time = Date.parse(text);
  // The engine takes 30 February for 2 March.
  const isDate = date !== undefined && new Date(`${date}T00:00Z`).toJSON()?.startsWith(date);
  return isDate && Number.isFinite(time) ? time : undefined;
}

interface Place {
  readonly source: string;
  readonly line: number;
}

interface Words {
  readonly token: string;
  readonly attributes: readonly string[];
  readonly isMain: boolean;
}

/** Up to the first that begins with `#`, which no token does. */
function wordsOf(line: string): readonly string[] {
  const words = line.split(/[ \t]+/).filter((word) => word !== '');
  const comment = words.findIndex((word) => word.startsWith('#'));
  return comment === -1 ? words : words.slice(0, comment);
}

function parseEntry(place: Place, { token, attributes, isMain }: Words): TokenEntry {
  const sha256 = digestOf(place, token);
  const values = parseAttributes(place, attributes);
  const name = values.get('name') ?? (isMain ? MAIN_NAME : nameOfDigest(sha256));
  if (!NAME_FORM.test(name)) {
    throw badLine(place, 'The name is not an id', 'use letters, digits, dot, dash and underscore, at most 64');
  }
  const expires = values.get('expires');
  return {
    line: place.line,
    name,
    sha256,
    scopes: scopesOf(place, values.get('scopes'), isMain),
    ...(expires === undefined ? {} : { expiresAt: expiryOf(place, expires) }),
  };
}

function digestOf(place: Place, token: string): string {
  if (token.startsWith('sha256:')) {
    const digest = DIGEST.exec(token)?.[1];
    if (digest === undefined) throw badLine(place, 'The digest is not 64 hex digits', 'write sha256:<64 hex digits>');
    return digest.toLowerCase();
  }
  if (!TOKEN_FORM.test(token)) {
    throw badLine(place, 'The token has a character no header carries', 'use letters, digits and . _ ~ + / - only');
  }
  if (token.length < MIN_TOKEN_LENGTH || token.length > MAX_TOKEN_BYTES) {
    const range = `${MIN_TOKEN_LENGTH} to ${MAX_TOKEN_BYTES}`;
    throw badLine(place, `The token has not ${range} characters`, 'make one with: tool-runtime token add');
  }
  return digestToken(token);
}

function parseAttributes(place: Place, words: readonly string[]): ReadonlyMap<Key, string> {
  const values = new Map<Key, string>();
  for (const word of words) {
    const [name = '', ...rest] = word.split('=');
    const key = KEYS.find((one) => one === name);
    if (key === undefined || rest.length === 0) {
      throw badLine(
        place,
        'Unknown field after the token; known are scopes=, expires= and name=',
        'one token per line',
      );
    }
    if (values.has(key)) throw badLine(place, `Given twice: ${key}`, 'leave one');
    values.set(key, rest.join('='));
  }
  return values;
}

function scopesOf(place: Place, text: string | undefined, isMain: boolean): ReadonlySet<Scope> {
  if (text === undefined) {
    if (isMain) return new Set(SCOPES);
    throw badLine(place, 'No scopes; only the first plain token may leave them out', 'add scopes=read,call');
  }
  const scopes = parseScopes(text);
  if (scopes === undefined) throw badLine(place, 'A scope is unknown', `choose from ${SCOPES.join(',')}`);
  return scopes;
}

function expiryOf(place: Place, text: string): number {
  const time = parseTime(text);
  if (time !== undefined) return time;
  throw badLine(place, 'The expiry is not an ISO time with a zone', 'write it like 2030-01-31T12:00:00Z');
}

function refuseTwin(place: Place, { name, sha256 }: TokenEntry, entries: readonly TokenEntry[]): void {
  for (const other of entries) {
    if (other.sha256 === sha256) throw badLine(place, `Same token as line ${other.line}`, 'remove one of them');
    if (other.name === name) throw badLine(place, `Same name as line ${other.line}`, 'give it another name=');
  }
}

function isScope(word: string): word is Scope {
  return (SCOPES as readonly string[]).includes(word);
}

function badLine({ source, line }: Place, problem: string, next: string): ToolError {
  return new ToolError('E_VALIDATION_FAIL', `Token file is wrong at line ${line}: ${problem}`, {
    path: source,
    details: { gate: 'auth', reason: 'bad_token_file', line, next },
  });
}
