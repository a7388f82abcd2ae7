/** The actions of git_stash that change something. */
import { z } from 'zod';
import type { ChangedFile, GitOutput, GitRepository } from '../../contracts/git.ts';
import type { ToolContext } from '../../contracts/tool.ts';
import { gitFailure } from '../../git/git-failure.ts';
import { UNFINISHED } from '../../git/pathspec.ts';
import { findObjects } from '../../git/resolve-revisions.ts';
import { committerEnvironment } from './committer.ts';
import { gitRefused, unmergedPaths, warnOfConflicts } from './operation-state.ts';
import { findLeftovers } from './recovery/find-leftovers.ts';
import { removeFiles } from './recovery/put-files.ts';
import { namingRecovery } from './recovery/recovery-note.ts';
import { type SavedRecovery, saveRecovery } from './recovery/save-recovery.ts';
import { refuseOverwriting, reportFiles, reportPaths, touchedFiles } from './report-changes.ts';

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

export interface Stash {
  readonly hash: string;
  /** Seconds. */
  readonly time: number;
  readonly message: string;
}

/** The list of stashes, newest first. */
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

const stash = z.strictObject({
  index: z.int(),
  commit: z.string(),
  message: z.string(),
  time: z.string(),
});

export const stashAnswer = z.strictObject({
  done: z.boolean().describe('False when there was nothing to put aside, or conflicts came up'),
  stashes: z.array(stash).describe('list: all; otherwise the one concerned'),
  conflicts: z.array(z.string()).describe('apply, pop: files to resolve; the stash is kept then'),
  files: z.array(z.string()).describe('show: files it changes'),
  untracked: z.array(z.string()).describe('show: files it brings that git did not know'),
  patch: z.string().describe('show: the changes of tracked files'),
  truncated: z.boolean().describe('show: there is more of the patch'),
  recovery: z.string().nullable().describe('For git_recover: the state before; null when nothing was changed'),
});
export type StashAnswer = z.output<typeof stashAnswer>;

export const NOTHING_SHOWN = { conflicts: [], files: [], untracked: [], patch: '', truncated: false };

/** What git_stash answers: one form for all its actions. */
export function toldStash({ hash, message, time }: Stash, index: number): z.output<typeof stash> {
  return { index, commit: hash, message, time: new Date(time * 1000).toISOString() };
}

/** Throws E_GIT when there are not so many. */
export function stashAt(stashes: readonly Stash[], index: number): Stash {
  const found = stashes[index];
  if (found !== undefined) return found;
  throw gitFailure(`Stash not found: ${index}`, {
    path: 'index',
    reason: 'unknown_stash',
    next: stashes.length === 0 ? 'there are no stashes' : `give a number from 0 to ${stashes.length - 1}`,
  });
}
