/**
 * The files imports can lead to: those of the tree that is checked. Resolvers ask for them one by one and at once, so what
 * they may read (the checked files, and what configures a project's names) is read beforehand.
 */
import { isToolError } from '@tool-runtime/protocol';
import type { ChangedFile, ChangeSet, RuleContext } from '@tool-runtime/sdk';
import type { ProjectFiles } from '../../scope/project-files.ts';

const SETTINGS =
  /(?:^|\/)(?:[tj]sconfig[^/]*\.json|package\.json|go\.(?:mod|work)|Cargo\.toml|pyproject\.toml|setup\.(?:py|cfg))$/;
const MAX_NAMES = 1_000_000;
const MAX_LISTING_BYTES = 256 * 1024 * 1024;

export type TreeContext = Pick<RuleContext, 'git' | 'workspace' | 'signal'>;

/** `judged` are the paths whose imports are asked about. */
export async function readJudgedTree(
  changes: ChangeSet,
  context: TreeContext,
  judged: ReadonlySet<string>,
): Promise<ProjectFiles> {
  const isWanted = (path: string): boolean => judged.has(path) || SETTINGS.test(path);
  const { names, contents } =
    changes.tree === undefined
      ? await worktree(context, isWanted)
      : await gitTree(changes, { context, tree: changes.tree, isWanted });
  const all = new Set(names);
  return { exists: (path) => all.has(path), read: (path) => contents.get(path), list: () => names };
}

interface TreeReading {
  readonly names: readonly string[];
  readonly contents: ReadonlyMap<string, Uint8Array>;
}

async function gitTree(
  changes: ChangeSet,
  wanted: { readonly context: TreeContext; readonly tree: string; isWanted(path: string): boolean },
): Promise<TreeReading> {
  const { context, tree, isWanted } = wanted;
  const { stdout } = await context.git.run({
    words: ['ls-tree', '-r', '-z', '--full-tree', tree],
    access: 'read',
    maxBytes: MAX_LISTING_BYTES,
    signal: context.signal,
  });
  const files = stdout.toString('utf8').split('\0').flatMap(treeEntry);
  const contents = new Map<string, Uint8Array>();
  for await (const { file, bytes } of changes.contents(files.filter(({ path }) => isWanted(path)))) {
    contents.set(file.path, bytes);
  }
  return { names: files.map(({ path }) => path), contents };
}

/** `100644 blob <hash>\t<path>` */
function treeEntry(line: string): ChangedFile[] {
  const [, mode, blob, path] = /^(100\d{3}) blob ([0-9a-f]+)\t(.+)$/s.exec(line) ?? [];
  if (mode === undefined || blob === undefined || path === undefined) return [];
  return [{ path, kind: 'unchanged', mode, blob }];
}

async function worktree({ workspace, signal }: TreeContext, isWanted: (path: string) => boolean): Promise<TreeReading> {
  const query = { globs: [], includeHidden: false, includeIgnored: false, maxResults: MAX_NAMES, signal };
  const { paths } = await workspace.list(query);
  const contents = new Map<string, Uint8Array>();
  for (const path of paths) {
    if (!isWanted(path)) continue;
    try {
      contents.set(path, (await workspace.readFile(path, { signal })).bytes);
    } catch (thrown) {
      // Gone meanwhile, or not ours to read: then it leads nowhere either.
      if (!isToolError(thrown) || thrown.code !== 'E_FILE_IO') throw thrown;
    }
  }
  return { names: paths, contents };
}
