/**
 * Lock files a killed git left behind. Nothing tells them from those of a git that is at work, except time: one that is
 * still there after a while is taken for left over.
 */
import { setTimeout as wait } from 'node:timers/promises';
import type { RecoveryContext } from './save-recovery.ts';

const LOOKS = 20;
const PAUSE_MS = 100;

/** Whether there were any. */
export async function clearLocks({ git, signal, warn }: RecoveryContext, refs: readonly string[]): Promise<boolean> {
  const names = ['index', 'HEAD', 'ORIG_HEAD', 'AUTO_MERGE', 'packed-refs', 'refs/stash', ...refs].map(
    (name) => `${name}.lock`,
  );
  let held = await heldOf(names);
  for (let look = 0; held.length > 0 && look < LOOKS; look++) {
    await wait(PAUSE_MS, undefined, { signal });
    held = await heldOf(held);
  }
  if (held.length === 0) return false;
  for (const name of held) await git.files.remove(name);
  warn({
    code: 'E_GIT',
    message: `Lock files were removed: ${held.join(', ')}`,
    details: { reason: 'left_over_lock', next: 'nothing, unless another git was still at work: then run it again' },
  });
  return true;

  async function heldOf(candidates: readonly string[]): Promise<readonly string[]> {
    const found = await Promise.all(candidates.map((name) => git.files.read(name)));
    return candidates.filter((_, at) => found[at] !== undefined);
  }
}
