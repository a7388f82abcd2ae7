/**
 * Makes one commit under a reference of its own, as `fast-import` would, and without starting it where the commit is
 * small: its few objects and its reference are files.
 */
import { isToolError } from '@tool-runtime/protocol';
import type { GitRepository } from '../../../contracts/git.ts';
import { emptyTree } from '../../../git/resolve-revisions.ts';
import { FORBIDDEN_NAME, hasPlainStore, type TreeLine, treeBytes, writeObject } from '../../../git/write-objects.ts';
import { COMMITTER, type ImportedCommit, importStream } from './fast-import.ts';

type Entry = ImportedCommit['entries'][number];
type Store = (type: 'blob' | 'tree' | 'commit', bytes: Uint8Array) => Promise<string>;

/** Beyond that git packs better. */
const MAX_ENTRIES = 16;
const MAX_BYTES = 64 * 1024;

/** `commit.ref` must be new. */
export async function importCommit(git: Pick<GitRepository, 'run' | 'files' | 'config'>, commit: ImportedCommit) {
  if (isSmall(commit) && (await isWritten(git, commit))) return;
  await git.run({ words: ['fast-import', '--quiet', '--done'], access: 'write', stdin: importStream(commit) });
}

function isSmall({ entries }: ImportedCommit): boolean {
  const bytes = entries.reduce((sum, { content }) => sum + ('bytes' in content ? content.bytes.byteLength : 0), 0);
  return entries.length <= MAX_ENTRIES && bytes <= MAX_BYTES;
}

/** False where git has to make it; without the reference nothing is made yet. */
async function isWritten(git: Pick<GitRepository, 'files' | 'config'>, commit: ImportedCommit): Promise<boolean> {
  const config = await git.config();
  if (!hasPlainStore(config)) return false;
  const hashBytes = emptyTree(config).length / 2;
  const store: Store = (type, bytes) => writeObject(git.files, { type, bytes }, hashBytes);
  try {
    const tree = await treeOf(commit.entries, '', store);
    if (tree === undefined) return false;
    const hash = await store('commit', commitBytes(commit, tree));
    await git.files.write(commit.ref, Buffer.from(`${hash}\n`), { exclusive: true });
    return true;
  } catch (thrown) {
    // Git says better what is wrong with its folder.
    if (isToolError(thrown)) return false;
    throw thrown;
  }
}

function commitBytes({ parents, time, message }: ImportedCommit, tree: string): Buffer {
  const who = `${COMMITTER} ${time} +0000`;
  const head = [`tree ${tree}`, ...parents.map((hash) => `parent ${hash}`), `author ${who}`, `committer ${who}`];
  return Buffer.from(`${head.join('\n')}\n\n${message}`);
}

/** Undefined for names git refuses, and for two entries of one name. */
async function treeOf(entries: readonly Entry[], at: string, store: Store): Promise<string | undefined> {
  const folders = new Map<string, Entry[]>();
  const lines = new Map<string, TreeLine>();
  for (const entry of entries) {
    const [name = '', ...below] = entry.path.slice(at.length).split('/');
    if (FORBIDDEN_NAME.test(name) || lines.has(name)) return undefined;
    if (below.length > 0) folders.set(name, [...(folders.get(name) ?? []), entry]);
    else lines.set(name, { mode: entry.mode.replace(/^0/, ''), name, hash: await hashOf(entry, store) });
  }
  for (const [name, inside] of folders) {
    const hash = await treeOf(inside, `${at}${name}/`, store);
    if (hash === undefined || lines.has(name)) return undefined;
    lines.set(name, { mode: '40000', name, hash });
  }
  return store('tree', treeBytes([...lines.values()]));
}

async function hashOf({ content }: Entry, store: Store): Promise<string> {
  return 'hash' in content ? content.hash : await store('blob', content.bytes);
}
