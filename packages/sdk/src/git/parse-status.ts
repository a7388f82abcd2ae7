/**
 * Reads `git status --porcelain=v2 --branch -z`, the one machine form that says everything at once. Files that are
 * being written are left out.
 */

import type { GitFiles } from '../contracts/git.ts';
import { isTemporaryPath } from '../contracts/path-text.ts';

export interface StatusEntry {
  readonly path: string;
  /** What the index differs in from HEAD: one letter, or `.` for nothing. */
  readonly index: string;
  /** What the work tree differs in from the index. */
  readonly worktree: string;
  readonly from?: string;
  readonly kind: 'tracked' | 'unmerged' | 'untracked' | 'ignored';
  readonly submodule?: true;
}

export interface StatusReport {
  /** Null before the first commit. */
  readonly head: string | null;
  /** Null when detached. */
  readonly branch: string | null;
  readonly upstream: string | null;
  /** Null, like `behind`, without an upstream and when it no longer exists. */
  readonly ahead: number | null;
  readonly behind: number | null;
  readonly stashes: number;
  readonly entries: readonly StatusEntry[];
}

export function parseStatus(output: string): StatusReport {
  const unknown = { head: null, branch: null, upstream: null, ahead: null, behind: null };
  const report = { ...unknown, stashes: 0 } as Mutable<StatusReport>;
  const entries: StatusEntry[] = [];
  const fields = output.split('\0');
  for (let at = 0; at < fields.length; at++) {
    const field = fields[at] ?? '';
    if (field.startsWith('# ')) readHeader(field, report);
    else if (field.startsWith('2 ')) entries.push({ ...tracked(field, 9), from: fields[++at] ?? '' });
    else if (field.startsWith('1 ')) entries.push(tracked(field, 8));
    else if (field.startsWith('u ')) entries.push({ ...tracked(field, 10), kind: 'unmerged' });
    else if (isTemporaryPath(field.slice(2))) continue;
    else if (field.startsWith('? ')) entries.push(loose(field, '?', 'untracked'));
    else if (field.startsWith('! ')) entries.push(loose(field, '!', 'ignored'));
  }
  return { ...report, entries };
}

type Mutable<T> = { -readonly [key in keyof T]: T[key] };

function readHeader(field: string, report: Mutable<StatusReport>): void {
  const [, name = '', ...rest] = field.split(' ');
  const value = rest.join(' ');
  if (name === 'branch.oid') report.head = value === '(initial)' ? null : value;
  else if (name === 'branch.head') report.branch = value === '(detached)' ? null : value;
  else if (name === 'branch.upstream') report.upstream = value;
  else if (name === 'stash') report.stashes = Number(value);
  else if (name === 'branch.ab') {
    const [ahead = '0', behind = '0'] = rest;
    report.ahead = Math.abs(Number(ahead));
    report.behind = Math.abs(Number(behind));
  }
}

/** `1 XY sub …` and `2 XY sub …`: the path is what follows so many fields. */
function tracked(field: string, fieldsBefore: number): StatusEntry {
  const codes = field.slice(2, 4);
  let from = 0;
  for (let count = 0; count < fieldsBefore; count++) from = field.indexOf(' ', from) + 1;
  return {
    path: field.slice(from),
    index: codes.charAt(0),
    worktree: codes.charAt(1),
    kind: 'tracked',
    ...(field.charAt(5) === 'S' ? { submodule: true } : {}),
  };
}

function loose(field: string, code: string, kind: 'untracked' | 'ignored'): StatusEntry {
  return { path: field.slice(2), index: code, worktree: code, kind };
}

export const STATES = ['merge', 'rebase', 'cherry_pick', 'revert', 'am', 'bisect'] as const;
type InProgress = (typeof STATES)[number];

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

/** What git was in the middle of when it stopped, by the files it leaves in its folder. */
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
