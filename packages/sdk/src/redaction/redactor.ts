/**
 * Takes secrets out of whatever leaves the runtime: answers, events, records, artifacts, logs.
 *
 * Two nets that are kept apart. `known` holds values that are known to be secret and changes nothing else. Shapes are
 * guesses: they are for text about calls, never for the contents of files.
 */
import type { JsonObject, JsonValue } from '@tool-runtime/protocol';
import type { KnownSecrets } from '../contracts/redaction.ts';
import { REDACTED } from './find-values.ts';
import { KnownValues } from './known-values.ts';
import { redactArgv, redactCommandLine } from './redact-command.ts';
import { withoutShapes } from './shapes.ts';

export interface Redactor {
  readonly known: KnownSecrets;
  /** Known values and shapes. */
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
  learn(secrets: readonly string[]): void;
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
  #known: KnownValues;

  constructor(given: readonly string[]) {
    this.#given = given;
    this.#known = new KnownValues(given);
  }

  get known(): KnownSecrets {
    return this.#known;
  }

  fork(): Redactor {
    return new SecretRedactor([...this.#given, ...this.#learned]);
  }

  learn(secrets: readonly string[]): void {
    const fresh = secrets.filter((secret) => !this.#learned.has(secret) && !this.#given.includes(secret));
    if (fresh.length === 0) return;
    for (const secret of fresh) this.#learned.add(secret);
    for (const oldest of this.#learned) {
      if (this.#learned.size <= MAX_LEARNED) break;
      this.#learned.delete(oldest);
    }
    this.#known = new KnownValues([...this.#given, ...this.#learned]);
  }

  readonly redactText = (text: string): string => withoutShapes(this.#known.text(text));

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
