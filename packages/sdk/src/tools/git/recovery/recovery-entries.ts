/** The parts of a recovery point, as the tree of its commit: files, staged contents, the index, operation state. */
import type { CommitCandidate, GitRepository } from '../../../contracts/git.ts';
import { readIndex } from '../../../git/read-index.ts';
import type { StateFile } from '../operation-state.ts';
import type { Captured } from './capture-files.ts';
import type { BlobEntry, TreeEntry } from './fast-import.ts';
import { type RawPath, toBytes } from './raw-path.ts';
import type { DirtyTree } from './read-dirty.ts';

export interface RecoveryParts {
  readonly dirty: DirtyTree;
  readonly captured: Captured;
  readonly state: readonly StateFile[];
  /** Undefined when there is none yet. */
  readonly index: Buffer | undefined;
}

export async function recoveryEntries(git: GitRepository, parts: RecoveryParts): Promise<readonly BlobEntry[]> {
  return [
    ...contentEntries(parts.captured),
    ...stagedEntries(parts.dirty),
    ...(await indexEntries(git, parts.index)),
    ...parts.state.map(({ name, bytes }) => blob(`state/${name}`, bytes)),
  ];
}

/** Of a commit, which touches no file and leaves the index as it is. */
export async function commitEntries(
  git: GitRepository,
  { state, index, candidate }: Pick<RecoveryParts, 'state' | 'index'> & { readonly candidate: CommitCandidate },
): Promise<readonly (BlobEntry | TreeEntry)[]> {
  const { tree } = candidate;
  // Unless more was staged since it was frozen, the tree is what the index holds.
  const isFrozen = index !== undefined && candidate.index.bytes?.equals(index) === true;
  const isPlain = isFrozen && readIndex(index, tree.length / 2)?.isPlain === true;
  return [
    ...contentEntries({ files: [], missing: [], skipped: [] }),
    { path: INDEX_TREE, mode: '040000', content: { hash: tree } },
    // The bytes are a hundred times as much, and needed only where a tree cannot say it all.
    ...(isPlain ? [] : await indexEntries(git, index)),
    ...state.map(({ name, bytes }) => blob(`state/${name}`, bytes)),
  ];
}

/** What the index held, as a tree. */
export const INDEX_TREE = 'index-tree';

function blob(path: RawPath, bytes: Uint8Array): BlobEntry {
  return { path, mode: '100644', content: { bytes } };
}

/** `manifest` has what a tree cannot hold: all permissions, and names with nothing there. */
function contentEntries({ files, missing }: Captured): readonly BlobEntry[] {
  const records = [
    ...files.map(({ path, permissions }) => `F ${permissions?.toString(8) ?? '-'} ${path}\0`),
    ...missing.map((path) => `D - ${path}\0`),
  ];
  return [
    blob('manifest', toBytes(records.join(''))),
    ...files.map(({ path, mode, content }) => ({ path: `files/${path}`, mode, content })),
  ];
}

/** Staged contents and the sides of conflicts: nothing but the index may lead to them. */
function stagedEntries({ entries }: DirtyTree): readonly BlobEntry[] {
  const hashes = new Set(entries.flatMap(({ staged }) => staged));
  return [...hashes].map((hash) => ({ path: `staged/${hash}`, mode: '100644', content: { hash } }));
}

/** An index may be split in two files. */
async function indexEntries(git: GitRepository, index: Buffer | undefined): Promise<readonly BlobEntry[]> {
  if (index === undefined) return [];
  const entries = [blob('index', index)];
  for (const base of splitBases(index)) {
    const bytes = await git.files.read(base);
    if (bytes !== undefined) entries.push(blob(`base/${base}`, bytes));
  }
  return entries;
}

const LINK = Buffer.from('link');
const NO_BASE = /^0*$/;

/** The extension `link` names the other file by its hash. Paths may hold that word too: such a file will not exist. */
function splitBases(index: Buffer): readonly string[] {
  const names = new Set<string>();
  for (let at = index.indexOf(LINK); at >= 0; at = index.indexOf(LINK, at + 1)) {
    const size = at + 8 <= index.length ? index.readUInt32BE(at + 4) : 0;
    if (size < 20 || at + 8 + size > index.length) continue;
    for (const length of [20, 32]) {
      const hash = index.toString('hex', at + 8, at + 8 + length);
      if (size >= length && !NO_BASE.test(hash)) names.add(`sharedindex.${hash}`);
    }
  }
  return [...names];
}
