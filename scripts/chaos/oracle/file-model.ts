/**
 * Files and trees as the calls should leave them. Each has one writer at a time, so that what was acknowledged last is
 * known; after an unknown outcome there are two right states, and its writer goes on with another name.
 */
import { existsSync, lstatSync, readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Problems } from '../../../packages/host/test/load/problems.ts';
import type { Knowledge } from './call-outcome.ts';

/** `undefined` means that there is no such file. */
type Content = string | undefined;
type Presence = 'present' | 'absent';

export const TREE_FILES = 8;

/** Name below the tree → content; every tree is made of the same. */
export function treeFiles(): Readonly<Record<string, string>> {
  return Object.fromEntries(
    Array.from({ length: TREE_FILES }, (_, at) => [`part-${at % 3}/leaf-${at}.txt`, `${at}\n`]),
  );
}

export class FileModel {
  readonly #files = new Map<string, Set<Content>>();
  readonly #trees = new Map<string, Set<Presence>>();
  readonly #moves: { readonly from: string; readonly to: string }[] = [];
  readonly #folder: string;

  constructor(folder: string) {
    this.#folder = folder;
  }

  get paths(): Iterable<string> {
    return this.#files.keys();
  }

  /** Contents that are right now. */
  possible(path: string): ReadonlySet<Content> {
    return this.#files.get(path) ?? new Set([undefined]);
  }

  /** A call begins that will lead to this content. The returned function says what became of it. */
  begin(path: string, next: Content): (knowledge: Knowledge) => void {
    return beginIn(this.#files, path, { next, initial: undefined });
  }

  beginTree(path: string, next: Presence): (knowledge: Knowledge) => void {
    return beginIn(this.#trees, path, { next, initial: 'absent' });
  }

  /** Wherever it went, it is in one of the two places; both names are used for nothing else afterwards. */
  mayHaveMoved(from: string, to: string): void {
    this.#moves.push({ from, to });
  }

  check(problems: Problems): void {
    for (const { from, to } of this.#moves) {
      const found = [from, to].map((path) => presenceOf(join(this.#folder, path)));
      if (found.toSorted().join() !== 'absent,present')
        problems.add(`tree in two places or none: ${from}, ${to}: ${found}`);
    }
    for (const [path, contents] of this.#files) {
      const found = readText(join(this.#folder, path));
      if (!contents.has(found))
        problems.add(`wrong content: ${path}: ${shown(found)}, right: ${[...contents].map(shown)}`);
    }
    for (const [path, states] of this.#trees) {
      const found = presenceOf(join(this.#folder, path));
      if (!states.has(found as Presence)) problems.add(`wrong tree: ${path} is ${found}, right: ${[...states]}`);
    }
  }
}

function beginIn<State>(
  table: Map<string, Set<State>>,
  path: string,
  { next, initial }: { readonly next: State; readonly initial: State },
): (knowledge: Knowledge) => void {
  const before = table.get(path) ?? new Set([initial]);
  table.set(path, new Set([...before, next]));
  return (knowledge) => {
    if (knowledge === 'done') table.set(path, new Set([next]));
    if (knowledge === 'not done') table.set(path, before);
  };
}

function readText(path: string): Content {
  return existsSync(path) ? readFileSync(path, 'utf8') : undefined;
}

/** Half a tree is neither. */
function presenceOf(path: string): string {
  if (!existsSync(path)) return 'absent';
  if (!lstatSync(path).isDirectory()) return 'no folder';
  const wanted = treeFiles();
  const names = readdirSync(path, { recursive: true, withFileTypes: true })
    .filter((entry) => !entry.isDirectory())
    .map((entry) => join(entry.parentPath, entry.name).slice(path.length + 1));
  const wrong = names.filter((name) => wanted[name] !== readText(join(path, name)));
  const missing = Object.keys(wanted).filter((name) => !names.includes(name));
  return wrong.length + missing.length === 0 ? 'present' : `half there (missing ${missing}, wrong ${wrong})`;
}

function shown(content: Content): string {
  return content === undefined ? 'no file' : JSON.stringify(content.slice(0, 120));
}
