/**
 * Values that differ from run to run, in a form that does not: folders become `<workspace>`, `<state>` and `<home>`, ids are
 * numbered in the order in which they appear, times and durations are fixed.
 *
 * Numbered ids keep their shape, so that a program can hand them back in a later call. Nothing else of a text is changed.
 */
import type { JsonObject, JsonValue } from '@tool-runtime/protocol';

export interface Folders {
  readonly workspace: string;
  readonly state: string;
  readonly home: string | undefined;
}

export interface StableSetting {
  readonly folders: Folders;
  /** Whether the runtime made this id: other UUIDs are content. */
  isOurs(uuid: string): boolean;
  /** What the cassette holds already: new numbers follow those in it. */
  readonly before: string;
}

type Shape = (number: number) => string;

interface Kind {
  readonly found: RegExp;
  readonly shape: Shape;
  /** Numbers in a text of such shapes. */
  readonly numbered: RegExp;
}

const hex = (number: number, digits: number) => number.toString(16).padStart(digits, '0');

const KINDS = {
  uuid: {
    found: /\b[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}\b/g,
    shape: (number) => `00000000-0000-4000-8000-${hex(number, 12)}`,
    numbered: /\b00000000-0000-4000-8000-([0-9a-f]{12})\b/g,
  },
  artifact: {
    found: /\bartifact:[0-9a-f]{32}\b/g,
    shape: (number) => `artifact:${hex(number, 32)}`,
    numbered: /\bartifact:0{20}([0-9a-f]{12})\b/g,
  },
  recovery: {
    found: /\b\d{8}T\d{9}Z-[0-9a-f]{12}\b/g,
    shape: (number) => `20000101T000000000Z-${hex(number, 12)}`,
    numbered: /\b20000101T000000000Z-([0-9a-f]{12})\b/g,
  },
  run: {
    found: /\b\d{4}-\d\d-\d\dT\d\d-\d\d-\d\d-\d{6}Z-\d{6}\b/g,
    shape: (number) => `2000-01-01T00-00-00-000000Z-${String(number).padStart(6, '0')}`,
    numbered: /\b2000-01-01T00-00-00-000000Z-(\d{6})\b/g,
  },
  /** Of git. The number comes first, so that abbreviations differ. */
  object: {
    found: /^[0-9a-f]{40}$/g,
    shape: (number) => hex(number, 7).padEnd(40, '0'),
    numbered: /\b([0-9a-f]{7})0{33}\b/g,
  },
} as const satisfies Record<string, Kind>;

type KindName = keyof typeof KINDS;

const ABBREVIATED = /\b[0-9a-f]{7,40}\b/g;
const PREFIX = 7;
const ID_KEY = /_id$/;
const PID_KEY = /^(?:pid|ppid|pgid)$/;
const DURATION_KEY = /(?:^|_)(?:duration|elapsed|waited|remaining|lock_wait|approval_wait|cpu)(?:_ms|_s)?$|^durations$/;
const TIME_KEY = /^(?:at|time|date|mtime|ctime|atime|timestamp|ts|expires|modified)$|_(?:at|ts|time|date)$/;
const ISO = /^\d{4}-\d\d-\d\dT\d\d:\d\d(?::\d\d(?:\.\d+)?)?(?:Z|[+-]\d\d:?\d\d)$/;
/** Below this a number is no time in seconds or milliseconds of our days. */
const EARLIEST = 1_000_000_000;
const FIXED_TIME = '2000-01-01T00:00:00.000Z';

const PLACES = 'workspace|state|home';
/** A text that looks like a mark gets an exclamation mark. */
const MARKS = new RegExp(`<(${PLACES})(!*)>`, 'g');

export class StableForms {
  readonly #setting: StableSetting;
  readonly #folders: readonly { readonly pattern: RegExp; readonly mark: string }[];
  readonly #numbers = new Map<string, string>();
  readonly #pids = new Map<number, number>();
  /** Object names of git by how they begin. */
  readonly #objects = new Map<string, string>();
  readonly #last: Record<KindName, number>;

  constructor(setting: StableSetting) {
    this.#setting = setting;
    const { workspace, state, home } = setting.folders;
    const given = Object.entries({ workspace, state, home: home === '/' ? undefined : home });
    this.#folders = given
      .flatMap(([name, path]) => (path === undefined || path === '' ? [] : [{ path, mark: `<${name}>` }]))
      // The longest first: one may lie in another.
      .toSorted((one, other) => other.path.length - one.path.length)
      .map(({ path, mark }) => ({ pattern: new RegExp(`(?<![\\w.-])${escaped(path)}(?!\\.?[\\w-])`, 'g'), mark }));
    this.#last = lastNumbers(setting.before);
  }

  /** For arguments, where a time or a duration is what the caller wants. */
  args(value: JsonValue): JsonValue {
    return this.#walk(value, { key: '', fixTimes: false });
  }

  answer<T>(value: T): T {
    return this.#walk(value as JsonValue, { key: '', fixTimes: true }) as T;
  }

  text(text: string): string {
    return this.#text(text, '');
  }

  /** The other way for folders: what is asked for and given back names those of this machine. */
  live<T>(value: T): T {
    return mapStrings(value as JsonValue, (text) =>
      text.replace(MARKS, (mark, name: keyof Folders, more: string) =>
        more === '' ? (this.#setting.folders[name] ?? mark) : `<${name}${more.slice(1)}>`,
      ),
    ) as T;
  }

  #walk(value: JsonValue, how: { readonly key: string; readonly fixTimes: boolean }): JsonValue {
    if (typeof value === 'string')
      return how.fixTimes && isTime(how.key, value) ? FIXED_TIME : this.#text(value, how.key);
    if (typeof value === 'number') return this.#number(value, how);
    if (typeof value !== 'object' || value === null) return value;
    if (Array.isArray(value)) return (value as readonly JsonValue[]).map((item) => this.#walk(item, how));
    return Object.fromEntries(
      Object.entries(value as JsonObject).map(([key, item]) => [
        this.#text(key, ''),
        this.#walk(item, { ...how, key }),
      ]),
    );
  }

  #number(value: number, { key, fixTimes }: { readonly key: string; readonly fixTimes: boolean }): number {
    if (PID_KEY.test(key) && value > 0) return this.#pid(value);
    if (!fixTimes) return value;
    if (DURATION_KEY.test(key)) return 0;
    return TIME_KEY.test(key) && value >= EARLIEST ? 0 : value;
  }

  #pid(pid: number): number {
    const known = this.#pids.get(pid) ?? this.#pids.size + 1;
    this.#pids.set(pid, known);
    return known;
  }

  #text(text: string, key: string): string {
    let stable = text.replace(MARKS, '<$1$2!>');
    for (const { pattern, mark } of this.#folders) stable = stable.replace(pattern, mark);
    stable = stable.replace(KINDS.uuid.found, (id) =>
      this.#setting.isOurs(id) || ID_KEY.test(key) ? this.#numbered('uuid', id) : id,
    );
    for (const kind of ['artifact', 'recovery', 'run'] as const)
      stable = stable.replace(KINDS[kind].found, (id) => this.#numbered(kind, id));
    if (KINDS.object.found.test(stable)) this.#learnObject(stable);
    KINDS.object.found.lastIndex = 0;
    return this.#objects.size === 0 ? stable : stable.replace(ABBREVIATED, (name) => this.#object(name));
  }

  #learnObject(name: string): void {
    this.#objects.set(name.slice(0, PREFIX), name);
  }

  #object(name: string): string {
    const whole = this.#objects.get(name.slice(0, PREFIX));
    return whole?.startsWith(name) === true ? this.#numbered('object', whole).slice(0, name.length) : name;
  }

  #numbered(kind: KindName, id: string): string {
    const key = `${kind} ${id}`;
    const known = this.#numbers.get(key);
    if (known !== undefined) return known;
    // One that a replayed answer gave.
    const given = Number.parseInt(onlyNumber(kind, id) ?? '', 16);
    const isNumbered = given > 0 && given <= this.#last[kind];
    if (!isNumbered) this.#last[kind] += 1;
    const made = isNumbered ? id : KINDS[kind].shape(this.#last[kind]);
    this.#numbers.set(key, made);
    return made;
  }
}

function onlyNumber(kind: KindName, id: string): string | undefined {
  return [...id.matchAll(KINDS[kind].numbered)][0]?.[1];
}

function lastNumbers(text: string): Record<KindName, number> {
  const last = (kind: KindName) => {
    let most = 0;
    for (const [, digits = '0'] of text.matchAll(KINDS[kind].numbered)) {
      most = Math.max(most, Number.parseInt(digits, kind === 'run' ? 10 : 16));
    }
    return most;
  };
  return {
    uuid: last('uuid'),
    artifact: last('artifact'),
    recovery: last('recovery'),
    run: last('run'),
    object: last('object'),
  };
}

function isTime(key: string, text: string): boolean {
  return TIME_KEY.test(key) && ISO.test(text);
}

function escaped(text: string): string {
  return text.replace(/[.*+?^${}()|[\]\\]/g, '\\$&');
}

function mapStrings(value: JsonValue, change: (text: string) => string): JsonValue {
  if (typeof value === 'string') return change(value);
  if (typeof value !== 'object' || value === null) return value;
  if (Array.isArray(value)) return (value as readonly JsonValue[]).map((item) => mapStrings(item, change));
  return Object.fromEntries(
    Object.entries(value as JsonObject).map(([key, item]) => [change(key), mapStrings(item, change)]),
  );
}
