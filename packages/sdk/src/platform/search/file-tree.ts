/** Listing and searching one root. What they need besides it is found at first use and kept. */
import { once } from '@tool-runtime/protocol/internal';
import { failure } from '../../contracts/failures.ts';
import type { ListAnswer, ListQuery, SearchAnswer, SearchQuery } from '../../contracts/search.ts';
import { createDirectoryReader } from '../descriptors/directory-reader.ts';
import { loadNativeCalls } from '../descriptors/native-calls.ts';
import type { Root } from '../descriptors/root.ts';
import type { Spawner } from '../processes/spawned-process.ts';
import type { SecretTest } from '../protection/governing-files.ts';
import { type Bubblewrap, CONFINED_PROGRAM, findBubblewrap, type Trial } from '../sandbox/confinement.ts';
import type { TreeSource } from './folder-view.ts';
import { listTree } from './list-tree.ts';
import { type SearchSource, searchTree } from './search-tree.ts';

export interface FileTree {
  list(query: ListQuery): Promise<ListAnswer>;
  search(query: SearchQuery): Promise<SearchAnswer>;
}

export interface FileTreeOptions {
  /** `auto` sandboxes the search program where that works; `off` confirms every line it reports instead. */
  readonly confinement?: 'auto' | 'off';
  /** Searches tell nothing of files that may not be read. */
  readonly secrets?: () => SecretTest | undefined;
}

export function createFileTree(root: Root, options: FileTreeOptions = {}): FileTree {
  const { confinement = 'auto', secrets = () => undefined } = options;
  let tree: TreeSource | undefined;
  let attempts = 0;
  const treeSource = (): TreeSource => {
    const native = root.backend === 'openat2' ? loadNativeCalls() : undefined;
    tree ??= { root, readDirectory: createDirectoryReader(native) };
    return tree;
  };
  const searchSource = once(async (): Promise<SearchSource> => {
    const program = await findRipgrep(attempts++);
    const { createSpawner } = await import('../processes/spawner.ts');
    const spawner = createSpawner();
    const bubblewrap = confinement === 'off' ? undefined : await findSandbox(program, spawner);
    return { ...treeSource(), program, bubblewrap, spawner, secrets };
  });
  return {
    list: async (query) => listTree(treeSource(), query),
    search: async (query) => searchTree(await searchSource(), query),
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
function findSandbox(program: string, spawner: Spawner): Promise<Bubblewrap | undefined> {
  const trial: Trial = {
    program,
    args: ['--no-config', '--files', '--', CONFINED_PROGRAM, program],
    output: `${CONFINED_PROGRAM}\n`,
  };
  return findBubblewrap(trial, spawner);
}
