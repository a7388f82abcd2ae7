/** Index files of our own in the git folder, for what only git can read or write: links, and names that are no text. */
import { randomBytes } from 'node:crypto';
import type { GitRepository } from '../../../contracts/git.ts';

export async function withTemporaryIndex<T>(git: GitRepository, use: (index: string) => Promise<T>): Promise<T> {
  const index = `tool-runtime-${randomBytes(8).toString('hex')}.index`;
  try {
    return await use(index);
  } finally {
    await git.files.remove(index);
    await git.files.remove(`${index}.lock`);
  }
}
