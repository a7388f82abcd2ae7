/**
 * One ignore file: which entries of which folder it decides about. The last line that matches wins.
 *
 * Plain names and `*.ext`, nearly all lines of real files, are looked up; only the rest is tried one by one.
 * Names and folders are byte strings (`byteString`), as git compares bytes.
 */
import { type IgnorePattern, type NamePattern, readIgnoreLine, type WildFolder } from './ignore-pattern.ts';

const ASCII_ONLY = /^[\x00-\x7f]*$/;
const BYTE_ORDER_MARK = '\xef\xbb\xbf';
const NO_RULE = -1;

export type EntryKind = 'directory' | 'other';

/** One character per UTF-8 byte. */
export function byteString(text: string): string {
  return ASCII_ONLY.test(text) ? text : Buffer.from(text, 'utf8').toString('latin1');
}

/** What ignore files are asked about: a name as a byte string, and everything from its last dot, if it has one. */
export interface IgnoreSubject {
  readonly name: string;
  readonly ending: string | undefined;
  readonly isDirectory: boolean;
}

export function ignoreSubject(text: string, kind: EntryKind): IgnoreSubject {
  const name = byteString(text);
  const dot = name.lastIndexOf('.');
  return { name, ending: dot < 0 ? undefined : name.slice(dot), isDirectory: kind === 'directory' };
}

/** An ignore file's say about the entries of one folder: its own, or one below. */
export interface FolderIgnore {
  /** Undefined when no line is about it. */
  decide(subject: IgnoreSubject): 'ignored' | 'included' | undefined;
  /** Its say one folder down, `name` being a byte string; itself where that is the same in the whole subtree. */
  enter(name: string): FolderIgnore;
  /** Roughly what one decision costs. */
  readonly weight: number;
}

export function parseGitIgnore(bytes: Uint8Array): FolderIgnore {
  const text = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength).toString('latin1');
  const lines = (text.startsWith(BYTE_ORDER_MARK) ? text.slice(BYTE_ORDER_MARK.length) : text).split('\n');
  const patterns: IgnorePattern[] = [];
  for (const line of lines) {
    if (line.startsWith('#')) continue;
    const pattern = readIgnoreLine(untilNul(line.endsWith('\r') ? line.slice(0, -1) : line));
    if (pattern !== undefined) patterns.push(pattern);
  }
  return new RulesInFolder(indexPatterns(patterns));
}

function untilNul(line: string): string {
  const nul = line.indexOf('\0');
  return nul < 0 ? line : line.slice(0, nul);
}

interface WildFolderRule {
  readonly folder: WildFolder;
  readonly name: NamePattern;
  readonly place: RulePlace;
}

interface IndexedRules {
  readonly anywhere: NameRules;
  readonly byFolder: ReadonlyMap<string, NameRules>;
  /** The last name of each of these folders. */
  readonly folderNames: ReadonlySet<string>;
  readonly inSome: readonly WildFolderRule[];
  readonly isNegated: readonly boolean[];
}

function indexPatterns(patterns: readonly IgnorePattern[]): IndexedRules {
  const anywhere = new NameRules();
  const byFolder = new Map<string, NameRules>();
  const inSome: WildFolderRule[] = [];
  for (const [index, { directoryOnly, folder, name }] of patterns.entries()) {
    const place = { index, directoryOnly };
    if (folder.type === 'wild') inSome.push({ folder, name, place });
    else if (folder.type === 'any') anywhere.add(name, place);
    else {
      const rules = byFolder.get(folder.text) ?? new NameRules();
      byFolder.set(folder.text, rules);
      rules.add(name, place);
    }
  }
  const folderNames = new Set([...byFolder.keys()].map((folder) => folder.split('/').at(-2) ?? ''));
  return { anywhere, byFolder, folderNames, inSome, isNegated: patterns.map(({ negated }) => negated) };
}

class RulesInFolder implements FolderIgnore {
  readonly weight: number;
  readonly #rules: IndexedRules;
  readonly #place: FolderPlace | undefined;
  /** The lines that name this folder, in addition to those for every folder. */
  readonly #local: readonly NameRules[];
  readonly #isSameBelow: boolean;

  constructor(rules: IndexedRules, place?: FolderPlace) {
    this.#rules = rules;
    this.#place = place;
    this.#local = localRules(rules, place);
    this.#isSameBelow = this.#local.length === 0 && isSettled(rules, place);
    this.weight = rules.anywhere.weight;
    for (const { weight } of this.#local) this.weight += weight;
  }

  decide(subject: IgnoreSubject): 'ignored' | 'included' | undefined {
    let last = this.#rules.anywhere.lastMatch(subject);
    for (const rules of this.#local) last = Math.max(last, rules.lastMatch(subject));
    if (last === NO_RULE) return undefined;
    return this.#rules.isNegated[last] ? 'included' : 'ignored';
  }

  enter(name: string): FolderIgnore {
    return this.#isSameBelow
      ? this
      : new RulesInFolder(this.#rules, { parent: this.#place, name, depth: (this.#place?.depth ?? 0) + 1 });
  }
}

/** A folder below the ignore file's own, which is undefined. */
interface FolderPlace {
  readonly parent: FolderPlace | undefined;
  readonly name: string;
  readonly depth: number;
}

/** Built only where a line might apply, which is seldom. */
function pathOf(place: FolderPlace | undefined): string {
  return place === undefined ? '' : `${pathOf(place.parent)}${place.name}/`;
}

function localRules({ byFolder, folderNames, inSome }: IndexedRules, place: FolderPlace | undefined) {
  const fixed = folderNames.has(place?.name ?? '') ? byFolder.get(pathOf(place)) : undefined;
  let wild: NameRules | undefined;
  for (const rule of inSome) {
    if (!isInFolder(rule.folder, place)) continue;
    wild ??= new NameRules();
    wild.add(inFolderOnly(rule.name, pathOf(place)), rule.place);
  }
  if (fixed === undefined && wild === undefined) return NONE;
  return [fixed, wild].filter((rules) => rules !== undefined);
}

function isInFolder(folder: WildFolder, place: FolderPlace | undefined): boolean {
  const { name, depth } = place ?? { name: '', depth: 0 };
  if (folder.depth !== undefined && folder.depth !== depth) return false;
  return name.endsWith(folder.endsIn) && folder.matches(pathOf(place));
}

/** Whether no line names a folder below this one. */
function isSettled({ byFolder, inSome }: IndexedRules, place: FolderPlace | undefined): boolean {
  if (inSome.length > 0) return false;
  for (const named of byFolder.keys()) if (named.startsWith(pathOf(place))) return false;
  return true;
}

const NONE: readonly NameRules[] = [];

/** A pattern over the whole path becomes one over the names of a known folder. */
function inFolderOnly(pattern: NamePattern, folder: string): NamePattern {
  if (pattern.type !== 'wild' || pattern.subject === 'name') return pattern;
  return { ...pattern, subject: 'name', matches: (name) => pattern.matches(folder + name) };
}

interface RulePlace {
  readonly index: number;
  readonly directoryOnly: boolean;
}

interface WildRule extends RulePlace {
  readonly matches: (name: string) => boolean;
}

/** Patterns about a single name, found by lookup where possible. */
class NameRules {
  readonly #directories = new Map<string, number>();
  readonly #others = new Map<string, number>();
  /** `*.ext`, by everything from the last dot. */
  readonly #directoryEndings = new Map<string, number>();
  readonly #otherEndings = new Map<string, number>();
  readonly #wild: WildRule[] = [];
  weight = 0;

  add(pattern: NamePattern, place: RulePlace): void {
    const { index, directoryOnly } = place;
    if (pattern.type === 'literal') {
      this.#directories.set(pattern.text, index);
      if (!directoryOnly) this.#others.set(pattern.text, index);
    } else if (pattern.type === 'affixes' && pattern.head === '' && isExtension(pattern.tail)) {
      this.#directoryEndings.set(pattern.tail, index);
      if (!directoryOnly) this.#otherEndings.set(pattern.tail, index);
    } else {
      this.#wild.push({ ...place, matches: wildTest(pattern) });
      this.weight += pattern.type === 'wild' ? pattern.weight : 1;
    }
  }

  lastMatch({ name, ending, isDirectory }: IgnoreSubject): number {
    let last = (isDirectory ? this.#directories : this.#others).get(name) ?? NO_RULE;
    if (ending !== undefined) {
      last = Math.max(last, (isDirectory ? this.#directoryEndings : this.#otherEndings).get(ending) ?? NO_RULE);
    }
    for (let at = this.#wild.length - 1; at >= 0; at--) {
      const rule = this.#wild[at];
      if (rule === undefined || rule.index < last) break;
      if ((isDirectory || !rule.directoryOnly) && rule.matches(name)) return rule.index;
    }
    return last;
  }
}

function isExtension(tail: string): boolean {
  return tail.lastIndexOf('.') === 0;
}

function wildTest(pattern: Exclude<NamePattern, { readonly type: 'literal' }>): WildRule['matches'] {
  if (pattern.type === 'wild') return pattern.matches;
  const { head, tail } = pattern;
  const shortest = head.length + tail.length;
  return (name) => name.length >= shortest && name.startsWith(head) && name.endsWith(tail);
}
