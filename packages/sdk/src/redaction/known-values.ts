/**
 * The values that are known to be secret, removed from text, JSON and byte streams.
 *
 * Nothing is guessed here: what does not hold one of the values passes unchanged, byte for byte.
 */
import type { JsonObject, JsonValue } from '@tool-runtime/protocol';
import type { ByteFilter, KnownSecrets, MaskCount } from '../contracts/redaction.ts';
import { coverSpans, REDACTED, type Span, ValueFinder } from './find-values.ts';

const NOTHING = new Uint8Array(0);

export class KnownValues implements KnownSecrets {
  /** Every spelling. */
  readonly forms: readonly string[];
  readonly #texts: ValueFinder;
  #bytes: ValueFinder | undefined;

  constructor(secrets: Iterable<string>) {
    this.forms = secretForms(secrets);
    this.#texts = new ValueFinder(this.forms);
  }

  get isEmpty(): boolean {
    return this.forms.length === 0;
  }

  readonly text = (text: string, count?: MaskCount): string => {
    if (this.isEmpty) return text;
    const spans = this.#texts.spans(text);
    return spans.length === 0 ? text : coverCounted(text, spans, count);
  };

  /** The same value when nothing was found. Names of members are texts too. */
  json<T extends JsonValue>(value: T, count?: MaskCount): T {
    return this.isEmpty ? value : (mapTexts(value, (text) => this.text(text, count)) as T);
  }

  bytes(bytes: Uint8Array, count?: MaskCount): Uint8Array {
    if (this.isEmpty) return bytes;
    const text = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength).toString('latin1');
    const spans = this.#inBytes().spans(text);
    return spans.length === 0 ? bytes : Buffer.from(coverCounted(text, spans, count), 'latin1');
  }

  stream(count?: MaskCount): ByteFilter {
    return new SecretStream(this.#inBytes(), count);
  }

  /** Bytes are compared as Latin-1 texts, one character each. */
  #inBytes(): ValueFinder {
    const asBytes = (form: string): string => Buffer.from(form, 'utf8').toString('latin1');
    this.#bytes ??= new ValueFinder(this.forms.filter((form) => form.isWellFormed()).map(asBytes));
    return this.#bytes;
  }
}

function coverCounted(text: string, spans: readonly Span[], count: MaskCount | undefined): string {
  if (count !== undefined) count.masked += spans.length;
  return coverSpans(text, spans);
}

/** The same value when `change` left every text as it was. */
export function mapTexts(value: JsonValue, change: (text: string) => string): JsonValue {
  if (typeof value === 'string') return change(value);
  if (typeof value !== 'object' || value === null) return value;
  if (Array.isArray(value)) {
    const list = (value as readonly JsonValue[]).map((item) => mapTexts(item, change));
    return list.every((item, at) => item === value[at]) ? value : list;
  }
  const entries = Object.entries(value as JsonObject);
  const changed = entries.map(([name, item]): [string, JsonValue] => [change(name), mapTexts(item, change)]);
  const isSame = changed.every(([name, item], at) => name === entries[at]?.[0] && item === entries[at]?.[1]);
  return isSame ? value : Object.fromEntries(changed);
}

/** Shorter values occur in ordinary text, which would be masked too. */
const MIN_SECRET_LENGTH = 4;
/** Of a key in several lines each one is telling. */
const MIN_LINE_LENGTH = 16;
/** Fewer bytes have too little base64 text that does not depend on what precedes them. */
const MIN_SHIFTED_BYTES = 8;
/** Shorter texts are found in base64 of anything, by chance. */
const MIN_BASE64_LENGTH = 8;

/** Each once. */
function secretForms(secrets: Iterable<string>): readonly string[] {
  const forms = new Set<string>();
  for (const secret of secrets) {
    if (secret.length < MIN_SECRET_LENGTH) continue;
    for (const form of spellings(secret)) forms.add(form);
    if (!/[\r\n]/.test(secret)) continue;
    const lines = secret.split(/\r?\n/).filter((line) => line.length >= MIN_LINE_LENGTH);
    for (const line of lines) for (const form of spellings(line)) forms.add(form);
  }
  return [...forms];
}

function spellings(secret: string): readonly string[] {
  const escaped = JSON.stringify(secret).slice(1, -1);
  const plain = [secret, escaped, escaped.replaceAll('/', '\\/')];
  if (!secret.isWellFormed()) return plain;
  const encoded = encodeURIComponent(secret);
  const lower = encoded.replace(/%[0-9A-F]{2}/g, (code) => code.toLowerCase());
  const packed = new Set([secret, escaped]);
  const base64 = [...packed].flatMap((text) => base64Forms(Buffer.from(text)));
  return [...plain, encoded, lower, encoded.replaceAll('%20', '+'), ...base64];
}

/** The part of the base64 text that these bytes always produce, whatever precedes and follows them. */
function base64Forms(bytes: Buffer): readonly string[] {
  const shifts = bytes.length < MIN_SHIFTED_BYTES ? [0] : [0, 1, 2];
  const forms = shifts.map((shift) => {
    const text = Buffer.concat([Buffer.alloc(shift), bytes]).toString('base64url');
    const end = Math.floor(((shift + bytes.length) * 8) / 6);
    return text.slice(Math.ceil((shift * 8) / 6), end);
  });
  const long = forms.filter((form) => form.length >= MIN_BASE64_LENGTH);
  return long.flatMap((form) => [form, form.replaceAll('-', '+').replaceAll('_', '/')]);
}

/**
 * Takes known values out of a stream of bytes, also where two chunks meet.
 *
 * Only what could be the beginning of a value is held back, at most as much as the longest one, so a prompt that waits
 * for an answer is shown at once. The output is the same however the stream was cut into chunks.
 */
class SecretStream implements ByteFilter {
  readonly #finder: ValueFinder;
  readonly #values: readonly string[];
  readonly #longest: number;
  readonly #beginnings: ReadonlySet<string>;
  masked = 0;
  #held = '';
  /** So much of what is held belongs to a match that was covered already. */
  #covered = 0;

  readonly #count: MaskCount | undefined;

  /** Of values as Latin-1 texts. */
  constructor(finder: ValueFinder, count?: MaskCount) {
    const { values } = finder;
    this.#finder = finder;
    this.#count = count;
    this.#values = values;
    this.#longest = Math.max(0, ...values.map(({ length }) => length));
    this.#beginnings = new Set(values.map((value) => value.charAt(0)));
  }

  push(chunk: Uint8Array): Uint8Array {
    if (this.#values.length === 0) return chunk;
    const text = this.#held + Buffer.from(chunk.buffer, chunk.byteOffset, chunk.byteLength).toString('latin1');
    const decided = this.#decidedEnd(text);
    if (decided === text.length && this.#held === '' && this.#covered === 0) {
      const spans = this.#finder.spans(text);
      if (spans.length === 0) return chunk;
      this.#note(spans.length);
      return Buffer.from(coverSpans(text, spans), 'latin1');
    }
    return this.#release(text, decided);
  }

  end(): Uint8Array {
    const text = this.#held;
    return text === '' ? NOTHING : this.#release(text, text.length);
  }

  /** Where the earliest value could begin that is not all there yet. */
  #decidedEnd(text: string): number {
    for (let at = Math.max(0, text.length - this.#longest + 1); at < text.length; at++) {
      if (!this.#beginnings.has(text.charAt(at))) continue;
      const rest = text.slice(at);
      if (this.#values.some((value) => value.length > rest.length && value.startsWith(rest))) return at;
    }
    return text.length;
  }

  #release(text: string, decided: number): Uint8Array {
    const spans = this.#finder.spans(text, this.#covered);
    let clean = '';
    let from = 0;
    let carried = decided === 0 ? this.#covered : 0;
    for (const [start, end] of spans) {
      if (start >= decided) break;
      clean += text.slice(from, start);
      // Of a match that began in an earlier chunk the mark is out already.
      if (start > 0 || this.#covered === 0) {
        clean += REDACTED;
        this.#note(1);
      }
      from = Math.min(end, decided);
      carried = end - from;
    }
    clean += text.slice(from, decided);
    this.#held = text.slice(decided);
    this.#covered = carried;
    return Buffer.from(clean, 'latin1');
  }

  #note(masks: number): void {
    this.masked += masks;
    if (this.#count !== undefined) this.#count.masked += masks;
  }
}
