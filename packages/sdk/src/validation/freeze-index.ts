/** A copy of the index in memory. Only a git that has to look at it needs a file, and most commits start none. */
import { randomBytes } from 'node:crypto';
import { once } from '@tool-runtime/protocol/internal';
import type { FrozenIndex, GitFiles } from '../contracts/git.ts';

export function freezeIndex(files: Pick<GitFiles, 'write' | 'remove'>, bytes: Buffer | undefined): FrozenIndex {
  const name = `tool-runtime-${randomBytes(8).toString('hex')}.index`;
  const written = once(async () => {
    if (bytes !== undefined) await files.write(name, bytes, { exclusive: true });
  });
  let isOver = false;
  return {
    bytes,
    async name() {
      // A call that was given up may still run, and the file would stay.
      if (isOver) throw new TypeError('The frozen index was asked for after its end');
      await written();
      return name;
    },
    async discard() {
      isOver = true;
      const writing = written.ifMade();
      if (writing === undefined) return;
      await writing.catch(() => {});
      await files.remove(name);
    },
  };
}
