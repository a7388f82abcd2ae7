/** What git was in the middle of when it stopped, by the files it leaves in its folder. */
import type { GitFiles } from '../contracts/git.ts';

export const STATES = ['merge', 'rebase', 'cherry_pick', 'revert', 'am', 'bisect'] as const;
export type InProgress = (typeof STATES)[number];

/** In the order they are asked: a rebase also leaves the file of the commit it was picking. */
const WITNESSES: readonly (readonly [string, InProgress])[] = [
  ['rebase-merge/head-name', 'rebase'],
  ['rebase-apply/applying', 'am'],
  ['rebase-apply/head-name', 'rebase'],
  ['MERGE_HEAD', 'merge'],
  ['CHERRY_PICK_HEAD', 'cherry_pick'],
  ['REVERT_HEAD', 'revert'],
  ['BISECT_LOG', 'bisect'],
];

export async function findInProgress(files: Pick<GitFiles, 'read'>): Promise<InProgress | null> {
  const found = await Promise.all(WITNESSES.map(async ([name]) => (await files.read(name)) !== undefined));
  return WITNESSES[found.indexOf(true)]?.[1] ?? (await sequenceOf(files));
}

/** Between two commits of a longer pick or revert only the list of those still to come is there. */
async function sequenceOf(files: Pick<GitFiles, 'read'>): Promise<InProgress | null> {
  const todo = await files.read('sequencer/todo');
  if (todo === undefined) return null;
  return /^\s*(?:revert|r)\s/.test(todo.toString('utf8')) ? 'revert' : 'cherry_pick';
}
