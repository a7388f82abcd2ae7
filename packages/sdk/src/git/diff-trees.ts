/**
 * Which files differ between two trees, read from git's own files where possible: a sandboxed process costs a hundred
 * times as much. Folders that are the same on both sides are not opened.
 *
 * Says what `git diff-tree -r -M --raw` says, and leaves to git what takes more than a look at the trees: packed trees,
 * submodules, which the repository may have told git to ignore, unusual modes, and renames, which need an added and a
 * deleted file.
 */
import type { ChangedFile, GitFiles } from '../contracts/git.ts';
import { readLooseObject } from './head-commit.ts';
import { isEmptyTree } from './resolve-revisions.ts';

const MAX_TREE_BYTES = 4 * 1024 * 1024;
/** Beyond that one start of git costs less. */
const MAX_TREES = 200;
const FOLDER = '40000';
const MODES: ReadonlySet<string> = new Set([FOLDER, '100644', '100755', '120000']);
const SUBMODULE = '160000';
const LETTERS_OF_TYPE = 3;

interface Entry {
  /** As trees are sorted: the name of a folder counts as if a slash followed. */
  readonly key: string;
  readonly mode: string;
  readonly hash: string;
}

interface Walk {
  readonly files: GitFiles;
  readonly changes: ChangedFile[];
  treesLeft: number;
}

/** Undefined where git has to be asked. */
export async function diffTrees(
  files: GitFiles,
  base: string,
  tree: string,
): Promise<readonly ChangedFile[] | undefined> {
  const walk: Walk = { files, changes: [], treesLeft: MAX_TREES };
  if (!(await compareFolder({ base, tree, at: '' }, walk))) return undefined;
  const has = (wanted: ChangedFile['kind']): boolean => walk.changes.some(({ kind }) => kind === wanted);
  return has('added') && has('deleted') ? undefined : walk.changes;
}

interface Sides {
  readonly base: string | undefined;
  readonly tree: string | undefined;
  readonly at: string;
}

/** False where git has to be asked. */
async function compareFolder({ base, tree, at }: Sides, walk: Walk): Promise<boolean> {
  if (base === tree) return true;
  const [before, after] = await Promise.all([readTree(base, walk), readTree(tree, walk)]);
  if (before === undefined || after === undefined) return false;
  const keys = [...new Set([...before.keys(), ...after.keys()])].sort(byBytes);
  for (const key of keys) {
    if (!(await compareEntry({ before: before.get(key), after: after.get(key), at }, walk))) return false;
  }
  return true;
}

/** As git sorts. Texts are compared by UTF-16 units otherwise, which differ for the rarest characters. */
function byBytes(left: string, right: string): number {
  return Buffer.compare(Buffer.from(left), Buffer.from(right));
}

async function compareEntry(
  { before, after, at }: { readonly before: Entry | undefined; readonly after: Entry | undefined; readonly at: string },
  walk: Walk,
): Promise<boolean> {
  const { key, mode } = (after ?? before) as Entry;
  if (before?.hash === after?.hash && before?.mode === after?.mode) return true;
  if (mode === SUBMODULE || before?.mode === SUBMODULE) return false;
  const path = `${at}${key}`;
  if (mode === FOLDER) return compareFolder({ base: before?.hash, tree: after?.hash, at: path }, walk);
  if (after === undefined) walk.changes.push({ path, kind: 'deleted', mode: '000000', blob: undefined });
  else walk.changes.push({ path, kind: kindOf(before, after), mode: after.mode, blob: after.hash });
  return true;
}

/** The first digits of a mode say whether it is a file or a link. */
function kindOf(before: Entry | undefined, after: Entry): ChangedFile['kind'] {
  if (before === undefined) return 'added';
  const isSameType = before.mode.slice(0, LETTERS_OF_TYPE) === after.mode.slice(0, LETTERS_OF_TYPE);
  return isSameType ? 'modified' : 'type_changed';
}

const NOTHING: ReadonlyMap<string, Entry> = new Map();

async function readTree(hash: string | undefined, walk: Walk): Promise<ReadonlyMap<string, Entry> | undefined> {
  // The empty tree has no file of its own.
  if (hash === undefined || isEmptyTree(hash)) return NOTHING;
  if (--walk.treesLeft < 0) return undefined;
  const found = await readLooseObject(walk.files, hash, MAX_TREE_BYTES);
  return found?.type === 'tree' ? entriesOf(found.bytes, hash.length / 2) : undefined;
}

/** `mode SP name NUL hash`, over and over. Undefined for what git writes otherwise. */
function entriesOf(bytes: Buffer, hashBytes: number): ReadonlyMap<string, Entry> | undefined {
  const entries = new Map<string, Entry>();
  for (let at = 0; at < bytes.length; ) {
    const space = bytes.indexOf(0x20, at);
    const end = bytes.indexOf(0, space);
    const next = end + 1 + hashBytes;
    if (space < 0 || end < 0 || next > bytes.length) return undefined;
    const mode = bytes.toString('latin1', at, space);
    const name = bytes.toString('utf8', space + 1, end);
    const key = mode === FOLDER ? `${name}/` : name;
    // Two names that only differ in what is not UTF-8 read the same: git tells them apart.
    const isPlain = name !== '' && !name.includes('/') && !name.includes('\uFFFD') && !entries.has(key);
    if (!isPlain || (mode !== SUBMODULE && !MODES.has(mode))) return undefined;
    entries.set(key, { key, mode, hash: bytes.toString('hex', end + 1, next) });
    at = next;
  }
  return entries;
}
