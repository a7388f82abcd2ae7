/** The actions of git_stash that only look. */
import type { ToolContext } from '../../../contracts/tool.ts';
import { parseRawDiff } from '../../../git/parse-raw-diff.ts';
import { findObjects } from '../../../git/resolve-revisions.ts';
import { patchText } from '../patch/patch-text.ts';
import { toShown } from '../recovery/raw-path.ts';
import { readStashes } from './read-stashes.ts';
import { NOTHING_SHOWN, type StashAnswer, stashAt, toldStash } from './stash-answer.ts';

const MAX_PATCH = 1024 * 1024;

export async function listStashes({ git }: ToolContext): Promise<StashAnswer> {
  const stashes = (await readStashes(git)).map(toldStash);
  return { ...NOTHING_SHOWN, done: true, stashes, recovery: null };
}

export async function showStash(index: number, { git }: ToolContext): Promise<StashAnswer> {
  const stash = stashAt(await readStashes(git), index);
  const sides = [`${stash.hash}^1`, stash.hash];
  const [names, patch, [extra]] = await Promise.all([
    git.run({
      words: ['diff-tree', '-r', '-z', '--raw', '--no-abbrev', '--no-renames', ...sides],
      access: 'read',
    }),
    git.run({
      words: ['diff-tree', '-r', '-p', '--no-ext-diff', '--no-textconv', '--no-color', '--no-renames', ...sides],
      access: 'read',
    }),
    findObjects(git, [`${stash.hash}^3^{tree}`]),
  ]);
  const untracked =
    extra === undefined ? '' : await git.run({ words: ['ls-tree', '-r', '-z', '--name-only', extra], access: 'read' });
  const text = patchText(patch.stdout, { maxBytes: MAX_PATCH, isCut: false });
  return {
    ...NOTHING_SHOWN,
    done: true,
    stashes: [toldStash(stash, index)],
    files: parseRawDiff(names.stdout.toString('latin1')).map(({ path }) => toShown(path)),
    untracked: untracked === '' ? [] : untracked.stdout.toString('utf8').split('\0').filter(Boolean),
    patch: text.patch,
    truncated: text.truncated,
    recovery: null,
  };
}
