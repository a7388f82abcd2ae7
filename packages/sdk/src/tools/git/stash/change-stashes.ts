/** The actions of git_stash that change something. */
import type { ChangedFile, GitOutput, GitRepository } from '../../../contracts/git.ts';
import type { ToolContext } from '../../../contracts/tool.ts';
import { UNFINISHED } from '../../../git/pathspec.ts';
import { findObjects } from '../../../git/resolve-revisions.ts';
import { reportFiles, reportPaths } from '../changes/report-changes.ts';
import { refuseOverwriting, touchedFiles } from '../changes/touched-files.ts';
import { committerEnvironment } from '../committer.ts';
import { gitRefused } from '../operation/git-refused.ts';
import { unmergedPaths } from '../operation/read-head.ts';
import { warnOfConflicts } from '../operation/warn-of-conflicts.ts';
import { findLeftovers } from '../recovery/find-leftovers.ts';
import { removeFiles } from '../recovery/put-files.ts';
import { namingRecovery } from '../recovery/recovery-ref.ts';
import { type SavedRecovery, saveRecovery } from '../recovery/save-recovery.ts';
import { readStashes } from './read-stashes.ts';
import { NOTHING_SHOWN, type StashAnswer, stashAt, toldStash } from './stash-answer.ts';

const NEXT = 'read the message of git in details.stderr';

export interface PushRequest {
  readonly message?: string;
  readonly include_untracked: boolean;
}

export async function pushStash(
  { message, include_untracked }: PushRequest,
  context: ToolContext,
): Promise<StashAnswer> {
  const { git } = context;
  const before = await readStashes(git);
  const saved = await saveRecovery(context, {
    verb: 'stash',
    stashes: before,
    mayTouch: (_, isTracked) => isTracked || include_untracked,
  });
  return namingRecovery(saved, async () => {
    const output = await git.run({
      words: [
        ...['stash', 'push', '--quiet', include_untracked ? '--include-untracked' : '--no-include-untracked'],
        ...(message === undefined ? [] : [`--message=${message}`]),
        ...(include_untracked && saved.dirty.hasUnfinished ? ['--', ':(top)', ...UNFINISHED] : []),
      ],
      access: 'write',
      env: { ...(await committerEnvironment(context)), ...(await quietSubmodules(git)) },
      accept: [0, 1, 128],
    });
    if (output.code !== 0) throw gitRefused({ what: 'Git put nothing aside', next: NEXT }, output, saved);
    const after = await readStashes(git);
    const [newest] = after;
    if (newest === undefined || after.length === before.length) {
      return { ...NOTHING_SHOWN, done: false, stashes: [], recovery: saved.ref };
    }
    await reportPaths(
      context,
      saved.dirty.entries.map(({ path }) => path),
    );
    return { ...NOTHING_SHOWN, done: true, stashes: [toldStash(newest, 0)], recovery: saved.ref };
  });
}

export async function dropStash(index: number, context: ToolContext): Promise<StashAnswer> {
  const { git } = context;
  const stashes = await readStashes(git);
  const stash = stashAt(stashes, index);
  const saved = await saveRecovery(context, { verb: 'stash', stashes });
  return namingRecovery(saved, async () => {
    await git.run({ words: ['stash', 'drop', '--quiet', `stash@{${index}}`], access: 'write' });
    return { ...NOTHING_SHOWN, done: true, stashes: [toldStash(stash, index)], recovery: saved.ref };
  });
}

export async function applyStash(
  { action, index }: { readonly action: 'apply' | 'pop'; readonly index: number },
  context: ToolContext,
): Promise<StashAnswer> {
  const { git, workspace } = context;
  const stashes = await readStashes(git);
  const stash = stashAt(stashes, index);
  const saved = await saveRecovery(context, { verb: 'stash', stashes, target: stash.hash });
  return namingRecovery(saved, async () => {
    const extra = await untrackedFiles(context, stash.hash);
    const known = saved.dirty.entries.filter(({ kind }) => kind !== 'untracked').map(({ path }) => path);
    await refuseOverwriting([...saved.touched, ...extra], new Set(known), workspace);
    const output = await git.run({
      words: ['stash', action, '--quiet', `stash@{${index}}`],
      access: 'write',
      env: { ...(await committerEnvironment(context)), ...(await quietSubmodules(git)) },
      accept: [0, 1, 128],
    });
    reportFiles(context, [...saved.touched, ...extra]);
    const told = { stashes: [toldStash(stash, index)], recovery: saved.ref };
    return { ...NOTHING_SHOWN, ...told, ...(await outcomeOf(context, output, { action, saved, extra })) };
  });
}

/** The part of a stash that git did not know when it was made, as files to come. */
async function untrackedFiles({ git }: ToolContext, stash: string): Promise<readonly ChangedFile[]> {
  const [tree] = await findObjects(git, [`${stash}^3^{tree}`]);
  return tree === undefined ? [] : touchedFiles(git, null, tree);
}

interface Applying {
  readonly action: string;
  readonly saved: SavedRecovery;
  readonly extra: readonly ChangedFile[];
}

async function outcomeOf(
  context: ToolContext,
  output: GitOutput,
  { action, saved, extra }: Applying,
): Promise<{ readonly done: boolean; readonly conflicts: string[] }> {
  if (output.code === 0) return { done: true, conflicts: [] };
  const conflicts = await unmergedPaths(context.git);
  if (conflicts.length === 0) {
    // Git brings the untracked files even when it then refuses the rest. None of them was there before.
    await removeFiles(context, await findLeftovers(extra, context));
    throw gitRefused({ what: `Git did not ${action} the stash`, next: NEXT, path: 'index' }, output, saved);
  }
  warnOfConflicts(context, conflicts, `stash ${action}`);
  return { done: false, conflicts: [...conflicts] };
}

/** For the environment of the verb. */
async function quietSubmodules(git: GitRepository): Promise<Readonly<Record<string, string>>> {
  // Git takes the file of the work tree, and the one of the index where there is none.
  const names = await Promise.all(['--file=.gitmodules', '--blob=:.gitmodules'].map((place) => namesIn(git, place)));
  const settings = [...new Set(names.flat())].flatMap((name, at) => [
    [`GIT_CONFIG_KEY_${at}`, `submodule.${name}.ignore`],
    [`GIT_CONFIG_VALUE_${at}`, 'dirty'],
  ]);
  return { ...Object.fromEntries(settings), GIT_CONFIG_COUNT: String(settings.length / 2) };
}

async function namesIn(git: GitRepository, place: string): Promise<readonly string[]> {
  const words = ['config', '--null', '--name-only', place, '--get-regexp', '^submodule\\..*\\.'];
  const { stdout } = await git.run({ words, access: 'read', accept: [0, 1, 128] });
  const keys = stdout.toString('utf8').split('\0').filter(Boolean);
  return keys.map((key) => key.slice('submodule.'.length, key.lastIndexOf('.')));
}
