/**
 * Files git itself puts into its store: links, whose text no tool can read, names that are no text, and large files, which
 * would have to be held in memory otherwise. Bytes go in as they are: no end of line is converted.
 */

import { randomBytes } from 'node:crypto';
import type { GitRepository } from '../../../contracts/git.ts';
import type { BlobEntry, BlobMode } from './fast-import.ts';
import { quoted, type RawPath } from './raw-path.ts';

/** Raw content of regular files, in order. */
export async function storeFiles(git: GitRepository, paths: readonly RawPath[]): Promise<readonly string[]> {
  if (paths.length === 0) return [];
  const { stdout } = await git.run({
    words: ['hash-object', '-w', '--no-filters', '--stdin-paths'],
    access: 'write',
    stdin: paths.map((path) => `${quoted(path)}\n`).join(''),
  });
  return stdout.toString('latin1').trim().split('\n');
}

/** What is there under these names, whatever it is; names that lead nowhere are left out. */
export async function storeAnything(git: GitRepository, paths: readonly RawPath[]): Promise<readonly BlobEntry[]> {
  if (paths.length === 0) return [];
  const found = await withTemporaryIndex(git, (index) => indexed(git, index, paths));
  const regular = found.filter(({ mode }) => mode !== '120000');
  const hashes = await storeFiles(
    git,
    regular.map(({ path }) => path),
  );
  const raw = new Map(regular.map(({ path }, at) => [path, hashes[at] ?? '']));
  return found.map(({ path, mode, hash }) => ({ path, mode, content: { hash: raw.get(path) ?? hash } }));
}

interface Indexed {
  readonly path: RawPath;
  readonly mode: BlobMode;
  readonly hash: string;
}

async function indexed(git: GitRepository, index: string, paths: readonly RawPath[]): Promise<readonly Indexed[]> {
  await git.run({
    words: ['update-index', '--add', '--remove', '-z', '--stdin'],
    access: 'write',
    index,
    stdin: Buffer.from(paths.map((path) => `${path}\0`).join(''), 'latin1'),
    // Mixed ends of line are none of its business here: the filtered form is thrown away.
    env: { GIT_CONFIG_COUNT: '1', GIT_CONFIG_KEY_0: 'core.safecrlf', GIT_CONFIG_VALUE_0: 'false' },
  });
  const { stdout } = await git.run({ words: ['ls-files', '-s', '-z'], access: 'read', index });
  return stdout
    .toString('latin1')
    .split('\0')
    .flatMap((record) => {
      const [, mode, hash = '', path = ''] = /^(100644|100755|120000) ([0-9a-f]+) 0\t(.+)$/s.exec(record) ?? [];
      return mode === undefined ? [] : [{ path, hash, mode: mode as BlobMode }];
    });
}

/** Index files of our own in the git folder, for what only git can read or write: links, and names that are no text. */
export async function withTemporaryIndex<T>(git: GitRepository, use: (index: string) => Promise<T>): Promise<T> {
  const index = `tool-runtime-${randomBytes(8).toString('hex')}.index`;
  try {
    return await use(index);
  } finally {
    await git.files.remove(index);
    await git.files.remove(`${index}.lock`);
  }
}
