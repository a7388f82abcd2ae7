/**
 * Takes secrets out of whatever leaves the runtime: answers, events, records, artifacts, logs.
 *
 * Two nets that are kept apart. `known` holds values that are known to be secret and changes nothing else; it is for
 * every exit. Shapes and values that only look like secrets are guesses: they are for records, events and logs, never
 * for answers, so that no guess changes what a program printed or a file contains.
 */
import type { JsonObject, JsonValue } from '@tool-runtime/protocol';
import type { KnownSecrets } from '../contracts/redaction.ts';
import { REDACTED } from './find-values.ts';
import { KnownValues } from './known-values.ts';
import { redactArgv, redactCommandLine } from './redact-words.ts';

export interface Redactor {
  readonly known: KnownSecrets;
  /** Known values and guesses, for records, events and logs. */
  redactText(text: string): string;
  /** The same value when nothing was found. Members with a secret's name lose their value whatever it is. */
  redactJson<T extends JsonValue>(value: T): T;
  /** A command as it may be shown: a line, or words that become one. */
  redactCommand(command: string | readonly string[]): string;
  /** The same as words. */
  redactWords(words: readonly string[]): readonly string[];
  /** Knows what this one knows, and forgets what it learns itself together with its owner. */
  fork(): Redactor;
  /** The oldest are forgotten when there are too many. */
  learn(found: FoundSecrets): void;
}

/** Values that came with a call. */
export interface FoundSecrets {
  /** Given as credentials: taken out at every exit. */
  readonly known?: readonly string[];
  /** Taken for secrets by the look of their place: taken out of records, events and logs. */
  readonly suspected?: readonly string[];
}

const MAX_LEARNED = 256;
const SECRET_MEMBER =
  /(?:passw(?:or)?d|passphrase|pwd|secret|token|api[_-]?key|access[_-]?key|private[_-]?key|secret[_-]?key|client[_-]?secret|credentials?|authorization|cookie)$/i;
const FOLDER_MEMBER = /^(?:OLD)?PWD$/;

export function createRedactor(options: { readonly secrets?: readonly string[] } = {}): Redactor {
  return new SecretRedactor(options.secrets ?? []);
}

class SecretRedactor implements Redactor {
  readonly #given: readonly string[];
  readonly #learned = new Set<string>();
  readonly #guessed = new Set<string>();
  #known: KnownValues;
  #suspected = new KnownValues([]);

  constructor(given: readonly string[]) {
    this.#given = given;
    this.#known = new KnownValues(given);
  }

  get known(): KnownSecrets {
    return this.#known;
  }

  fork(): Redactor {
    const copy = new SecretRedactor([...this.#given, ...this.#learned]);
    copy.learn({ suspected: [...this.#guessed] });
    return copy;
  }

  learn({ known = [], suspected = [] }: FoundSecrets): void {
    if (known.length === 0 && suspected.length === 0) return;
    const fresh = known.filter((secret) => !this.#given.includes(secret));
    if (remember(this.#learned, fresh)) this.#known = new KnownValues([...this.#given, ...this.#learned]);
    if (remember(this.#guessed, suspected)) this.#suspected = new KnownValues(this.#guessed);
  }

  readonly redactText = (text: string): string => withoutShapes(this.#suspected.text(this.#known.text(text)));

  redactJson<T extends JsonValue>(value: T): T {
    return redactValue(value, this.redactText) as T;
  }

  redactCommand(command: string | readonly string[]): string {
    const shown = typeof command === 'string' ? redactCommandLine(command) : redactArgv(command).join(' ');
    return this.redactText(shown);
  }

  redactWords(words: readonly string[]): readonly string[] {
    return redactArgv(words).map(this.redactText);
  }
}

/** Whether there was anything new. */
function remember(kept: Set<string>, secrets: readonly string[]): boolean {
  const fresh = secrets.filter((secret) => !kept.has(secret));
  for (const secret of fresh) kept.add(secret);
  for (const oldest of kept) {
    if (kept.size <= MAX_LEARNED) break;
    kept.delete(oldest);
  }
  return fresh.length > 0;
}

function redactValue(value: JsonValue, redactText: (text: string) => string): JsonValue {
  if (typeof value === 'string') return redactText(value);
  if (typeof value !== 'object' || value === null) return value;
  if (Array.isArray(value)) {
    const list = (value as readonly JsonValue[]).map((element) => redactValue(element, redactText));
    return list.every((element, at) => element === value[at]) ? value : list;
  }
  return redactObject(value as JsonObject, redactText);
}

function redactObject(object: JsonObject, redactText: (text: string) => string): JsonObject {
  let changed = false;
  const entries = Object.entries(object).map(([name, value]): [string, JsonValue] => {
    const cleanName = redactText(name);
    const clean = isSecretMember(name, value) ? REDACTED : redactValue(value, redactText);
    changed ||= cleanName !== name || clean !== value;
    return [cleanName, clean];
  });
  return changed ? Object.fromEntries(entries) : object;
}

/** Absence and yes/no answers are no secrets; everything else under such a name is taken for one. */
export function isSecretMember(name: string, value: JsonValue): boolean {
  if ((typeof value !== 'string' && typeof value !== 'number') || value === '') return false;
  return SECRET_MEMBER.test(name) && !FOLDER_MEMBER.test(name);
}

/** Tokens that give themselves away by how they begin. */
const TOKENS = [
  'gh[pousr]_[A-Za-z0-9]{20,}', // GitHub
  'github_pat_[A-Za-z0-9_]{20,}',
  'gl(?:pat|ptt|rt|dt|soat|cbt)-[A-Za-z0-9_.-]{16,}', // GitLab
  'xox[abeoprs]-[A-Za-z0-9-]{10,}', // Slack
  'xapp-[A-Za-z0-9-]{10,}',
  'https://hooks\\.slack\\.com/services/[A-Za-z0-9/_-]+',
  'npm_[A-Za-z0-9]{30,}',
  'trt_[A-Za-z0-9_-]{20,}', // tokens of our own hosts
  '(?<![A-Z0-9])(?:AKIA|ASIA|ABIA|ACCA)[A-Z0-9]{16}(?![A-Z0-9])', // AWS key id
  '(?<![A-Za-z0-9])sk-[A-Za-z0-9_-]{16,}', // OpenAI, Anthropic and others
  '(?:sk|pk|rk|whsec)_(?:live_|test_)?[A-Za-z0-9]{16,}', // Stripe
  'AIza[A-Za-z0-9_-]{30,}', // Google
  'ya29\\.[A-Za-z0-9_-]{20,}',
  '(?<![A-Za-z0-9_-])eyJ[A-Za-z0-9_-]{8,}\\.[A-Za-z0-9_-]{8,}(?:\\.[A-Za-z0-9_-]*)?', // JWT
].join('|');

const SECRET_NAME =
  'passw(?:or)?d|passphrase|pwd|secret|token|api[_-]?key|access[_-]?key|private[_-]?key|secret[_-]?key|client[_-]?secret|credentials?';
/** Quoted, quoted inside a quoted text, or bare. */
const VALUE = '(?:"(?:[^"\\\\\\n]|\\\\.)*"?|\\\\"[^"\\n]*"?|\'[^\'\\n]*\'?|[^\\s"\'&,;)}\\]]+)';
/** What was taken out already is not a value. */
const FRESH = '(?!\\[redacted\\])';
const QUOTE = '\\\\?["\']';

/** What introduces a secret, kept, and the secret, replaced. */
const INTRODUCED: readonly RegExp[] = [
  // `token=…`, `--password=…`, `DB_PASSWORD = …`
  new RegExp(`((?:${SECRET_NAME})(?:${QUOTE})?[ \\t]{0,4}=[ \\t]{0,4})${FRESH}${VALUE}`, 'gi'),
  // `"token": "…"`, `password: …`; a bare `token:` is a word of compilers and stays.
  new RegExp(
    `((?:(?:${SECRET_NAME})${QUOTE}|passw(?:or)?d|secret|api[_-]?key)[ \\t]{0,4}:[ \\t]{0,4})${FRESH}${VALUE}`,
    'gi',
  ),
  /(authorization["']?[ \t]{0,4}[:=][ \t]{0,4}["']?(?!(?:[a-z]{1,8}[ \t]{1,4})?\[redacted\])(?:(?:bearer|basic|token|digest)[ \t]{1,4})?)[^\s"',;]+/gi,
  /(\bbearer[ \t]{1,4})[A-Za-z0-9._~+/=-]{12,}/gi,
  // `scheme://user:password@host`
  /(:\/\/[^\s/:@"']*:)(?!\[redacted\]@)[^\s/@"']+(?=@)/g,
];

const SHAPED = new RegExp(TOKENS, 'g');
const KEY_BEGIN = /-----BEGIN [A-Z0-9 ]{0,40}PRIVATE KEY(?: BLOCK)?-----/g;
const KEY_END = '-----END';
const DASHES = '-----';

/** One cheap look for anything that one of the patterns above needs; most text has none of it. */
const SUSPICIOUS =
  /gh[pousr]_|github_pat_|gl(?:pat|ptt|rt|dt|soat|cbt)-|xox|xapp-|hooks\.slack|npm_|trt_|A(?:KIA|SIA|BIA|CCA)|sk[-_]|[pr]k_|whsec_|AIza|ya29|eyJ|:\/\/|-----BEGIN|passw|pwd|passphrase|secret|token|key(?:\\?["'])?[ \t]{0,4}[:=]|credential|authorization|bearer/i;

/** What shells and programs say about folders: `PWD=/work`, `"OLDPWD": "/"`. A password begins otherwise. */
const FOLDER = /(?:^|[^A-Za-z0-9_])(?:OLD)?PWD(?:\\?["'])?[ \t]{0,4}[:=][ \t]{0,4}\\?["']?(?:[/~]|[A-Za-z]:[\\/])/;

/**
 * Secrets that give themselves away by their shape. These are guesses, unlike the known values.
 *
 * A shape is one pattern that scans any text in linear time: after a long run it either matches or cannot be tried
 * again inside that run. Private key blocks are found by searching for their two ends, because a lazy pattern would
 * scan to the end for every beginning.
 */
function withoutShapes(text: string): string {
  if (!SUSPICIOUS.test(text)) return text;
  let clean = withoutPrivateKeys(text);
  for (const pattern of INTRODUCED) clean = clean.replace(pattern, withoutValue);
  return clean.replace(SHAPED, REDACTED);
}

function withoutValue(whole: string, before: string, at: number, text: string): string {
  const isFolder = /pwd/i.test(before) && FOLDER.test(text.slice(Math.max(0, at - 4), at + whole.length));
  return isFolder ? whole : before + REDACTED;
}

/** A block whose end was cut off is a key all the same. */
function withoutPrivateKeys(text: string): string {
  let clean = '';
  let from = 0;
  for (const begin of text.matchAll(KEY_BEGIN)) {
    if (begin.index < from) continue;
    clean += text.slice(from, begin.index) + REDACTED;
    from = endOfKey(text, begin.index + begin[0].length);
  }
  return from === 0 ? text : clean + text.slice(from);
}

function endOfKey(text: string, from: number): number {
  const end = text.indexOf(KEY_END, from);
  const close = end === -1 ? -1 : text.indexOf(DASHES, end + KEY_END.length);
  return close === -1 ? text.length : close + DASHES.length;
}
