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
import { redactArgv, redactCommandLine } from './redact-command.ts';
import { withoutShapes } from './shapes.ts';

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
