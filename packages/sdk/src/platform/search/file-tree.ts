/** Listing and searching one root. What else they need is found at first use and kept. */
import { once } from '@tool-runtime/protocol/internal';
import type { WorkspaceOverlay } from '../../contracts/commands.ts';
import { failure } from '../../contracts/failures.ts';
import { isTemporaryName } from '../../contracts/path-text.ts';
import type { ListAnswer, ListQuery, SearchAnswer, SearchQuery } from '../../contracts/search.ts';
import { type GlobLevel, walkGlobs } from '../../glob/glob-walk.ts';
import { createDirectoryReader } from '../descriptors/directory-reader.ts';
import type { Root } from '../descriptors/root.ts';
import { Pace } from '../pace.ts';
import type { Spawner } from '../processes/spawned-process.ts';
import type { SecretTest } from '../protection/governing-files.ts';
import type { Bubblewrap, Trial } from '../sandbox/confinement.ts';
import { FolderView, type TreeSource } from './folder-view.ts';
import type { SearchSource } from './search-tree.ts';

export interface FileTree {
  list(query: ListQuery): Promise<ListAnswer>;
  search(query: SearchQuery): Promise<SearchAnswer>;
}

export interface FileTreeOptions {
  /** `auto` sandboxes the search program where that works; `off` confirms every line it reports instead. */
  readonly confinement?: 'auto' | 'off';
  /** Searches tell nothing of files that may not be read. */
  readonly secrets?: () => SecretTest | undefined;
  /** The overlay that the root is on: programs see it only in its namespace. */
  readonly overlay?: WorkspaceOverlay | undefined;
}

export function createFileTree(root: Root, options: FileTreeOptions = {}): FileTree {
  const { confinement = 'auto', secrets = () => undefined, overlay } = options;
  let tree: TreeSource | undefined;
  let attempts = 0;
  const treeSource = (): TreeSource => {
    tree ??= { root, readDirectory: createDirectoryReader(root.native) };
    return tree;
  };
  const searchSource = once(async (): Promise<SearchSource> => {
    const program = await findRipgrep(attempts++);
    const { createSpawner } = await import('../processes/spawner.ts');
    const spawner = createSpawner();
    const bubblewrap = confinement === 'off' ? undefined : await findSandbox(program, spawner);
    return { ...treeSource(), program, bubblewrap, spawner, secrets, overlay };
  });
  return {
    list: async (query) => listTree(treeSource(), query),
    async search(query) {
      const { searchTree } = await import('./search-tree.ts');
      return searchTree(await searchSource(), query);
    },
  };
}

/**
 * Loaded late: its package throws where it has no program for the platform, and also where it cannot look for want of a
 * descriptor. A module that threw once throws forever under the same address, so further attempts use others.
 */
async function findRipgrep(attempt: number): Promise<string> {
  try {
    if (attempt === 0) return (await import('@vscode/ripgrep')).rgPath;
    const address = `${import.meta.resolve('@vscode/ripgrep')}?attempt=${attempt}`;
    return ((await import(address)) as { readonly rgPath: string }).rgPath;
  } catch (thrown) {
    throw failure(
      'host_configuration_needed',
      'host_configuration_needed',
      'Search program is not installed: ripgrep',
      {
        details: { next: 'Install the optional package of @vscode/ripgrep for this platform' },
        cause: thrown,
      },
    );
  }
}

/** Ripgrep lists itself by the one name it has in the sandbox, and finds nothing under its real one. */
async function findSandbox(program: string, spawner: Spawner): Promise<Bubblewrap | undefined> {
  const { CONFINED_PROGRAM, findBubblewrap } = await import('../sandbox/confinement.ts');
  const trial: Trial = {
    program,
    args: ['--no-config', '--files', '--', CONFINED_PROGRAM, program],
    output: `${CONFINED_PROGRAM}\n`,
  };
  return findBubblewrap(trial, spawner);
}

/** Opening and reading a folder, in the pace's units. */
const FOLDER_UNITS = 64;
/** Between two looks at the limit and the clock. */
const ENTRIES_PER_STEP = 64;

/**
 * The names in a workspace that match some globs, in sorted order, by descriptor.
 *
 * Folders are visited in the order of their paths, a folder's name counting with its slash, so names come out sorted
 * and the walk ends at the limit. Links are listed and never followed.
 *
 * Throws the signal's reason; E_VALIDATION_FAIL for a malformed glob; an errno error when the root cannot be read.
 */
export async function listTree(source: TreeSource, query: ListQuery): Promise<ListAnswer> {
  const pace = new Pace(query.signal);
  const walk = new Walk(query);
  await walk.open(await FolderView.root(source, query), walkGlobs(query.globs));
  for (let folder = walk.folder; folder !== undefined; folder = walk.folder) {
    const cost = await walk.step(folder);
    if (walk.paths.length > query.maxResults) return { paths: walk.paths.slice(0, query.maxResults), truncated: true };
    if (pace.isDue(cost)) await pace.pause();
  }
  return { paths: walk.paths, truncated: false };
}

interface OpenFolder {
  readonly view: FolderView;
  readonly globs: GlobLevel;
  /** Sorted; folders carry their slash. */
  readonly wanted: readonly string[];
  next: number;
}

class Walk {
  readonly paths: string[] = [];
  /** From the root down to where the walk is. */
  readonly #open: OpenFolder[] = [];
  readonly #maxDepth: number;
  readonly #includeDirectories: boolean;

  constructor({ depth, includeDirectories }: ListQuery) {
    this.#maxDepth = depth ?? Number.POSITIVE_INFINITY;
    this.#includeDirectories = includeDirectories ?? false;
  }

  get folder(): OpenFolder | undefined {
    return this.#open.at(-1);
  }

  async open(view: FolderView, globs: GlobLevel): Promise<void> {
    const isWanted = (entry: string) =>
      !isUnfinished(entry) && !view.hides(entry) && (isFolder(entry) || globs.matches(entry));
    this.#open.push({ view, globs, wanted: await sortedNames(view.entries, isWanted), next: 0 });
  }

  /** Takes the next entries of a folder, up to one that leads deeper; answers what that cost in the pace's units. */
  async step(folder: OpenFolder): Promise<number> {
    const { view, wanted } = folder;
    const { path, weight } = view;
    const start = folder.next;
    // Where ignore files make every name expensive, there is time for one.
    const end = Math.min(start + (weight > ENTRIES_PER_STEP ? 1 : ENTRIES_PER_STEP), wanted.length);
    while (folder.next < end) {
      const entry = wanted[folder.next] ?? '';
      folder.next += 1;
      if (isFolder(entry)) {
        await this.#visitFolder(folder, entry);
        return FOLDER_UNITS + (folder.next - start) * (1 + weight);
      }
      if (!view.ignores(entry, 'other')) this.paths.push(path + entry);
    }
    if (end === wanted.length) this.#open.pop();
    return (end - start) * (1 + weight);
  }

  async #visitFolder({ view, globs }: OpenFolder, entry: string): Promise<void> {
    const name = entry.slice(0, -1);
    const isListed = this.#includeDirectories && globs.matches(name);
    const inner = this.#open.length < this.#maxDepth ? globs.enter(name) : undefined;
    if ((!isListed && inner === undefined) || view.ignores(name, 'directory')) return;
    if (isListed) this.paths.push(view.path + entry);
    const below = inner === undefined ? undefined : await view.enter(name);
    if (below !== undefined && inner !== undefined) await this.open(below, inner);
  }
}

/** Being written, or left behind by a write that was killed. */
function isUnfinished(entry: string): boolean {
  return isTemporaryName(isFolder(entry) ? entry.slice(0, -1) : entry);
}

function isFolder(entry: string): boolean {
  return entry.endsWith('/');
}

/** Names between two turns of the event loop. */
const SLICE_NAMES = 4096;

/**
 * Sorts the names of a folder of any size, with pauses for other work. Those that are wanted, sorted. A small folder
 * costs no turn.
 */
export async function sortedNames(
  names: readonly string[],
  isWanted: (name: string) => boolean,
): Promise<readonly string[]> {
  if (names.length <= SLICE_NAMES) return names.filter(isWanted).sort();
  let runs: (readonly string[])[] = [];
  for (let at = 0; at < names.length; at += SLICE_NAMES) {
    runs.push(
      names
        .slice(at, at + SLICE_NAMES)
        .filter(isWanted)
        .sort(),
    );
    await othersTurn();
  }
  while (runs.length > 1) {
    const merged: (readonly string[])[] = [];
    for (let at = 0; at < runs.length; at += 2) merged.push(await merge(runs[at] ?? [], runs[at + 1] ?? []));
    runs = merged;
  }
  return runs[0] ?? [];
}

async function merge(one: readonly string[], other: readonly string[]): Promise<readonly string[]> {
  const merged: string[] = [];
  for (let at = 0, next = 0; at < one.length || next < other.length; ) {
    const [left, right] = [one[at], other[next]];
    if (right === undefined || (left !== undefined && left <= right)) merged.push(one[at++] as string);
    else merged.push(other[next++] as string);
    if (merged.length % SLICE_NAMES === 0) await othersTurn();
  }
  return merged;
}

function othersTurn(): Promise<void> {
  return new Promise((resolve) => setImmediate(resolve));
}
