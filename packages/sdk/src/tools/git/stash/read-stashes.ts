/** The list of stashes, newest first. */
import type { GitRepository } from '../../../contracts/git.ts';

export interface Stash {
  readonly hash: string;
  /** Seconds. */
  readonly time: number;
  readonly message: string;
}

export async function readStashes(git: GitRepository): Promise<readonly Stash[]> {
  const { code, stdout } = await git.run({
    words: ['log', '--walk-reflogs', '--first-parent', '-z', '--format=%H %ct %gs', 'refs/stash', '--'],
    access: 'read',
    accept: [0, 128],
  });
  if (code !== 0) return [];
  return stdout
    .toString('utf8')
    .split('\0')
    .flatMap((record) => {
      const [, hash, time, message = ''] = /^([0-9a-f]+) (\d+) (.*)$/s.exec(record) ?? [];
      return hash === undefined ? [] : [{ hash, time: Number(time), message }];
    });
}
