/**
 * Git. Reading and committing everywhere; the verbs that move branches and files about in the workspace where one lane
 * has git to itself. The answers cannot be predicted; what counts is that reported commits exist afterwards.
 */
import type { JsonObject } from '@tool-runtime/protocol';
import type { CallPlan } from '../../../packages/host/test/load/call-book.ts';
import { sourceName } from '../stage/plant-repository.ts';
import { type CallKind, type Lane, planCall } from './call-maker.ts';

/** Sources that git calls change. */
const CHANGED = [11, 22, 23, 34, 35, 46];
const GIT_CODES = ['E_GIT', 'E_POLICY', 'E_VALIDATION_FAIL', 'E_TIMEOUT', 'E_FILE_IO'];

export const gitCalls: readonly CallKind[] = [
  { name: 'read the repository', weight: 40, make: readRepository },
  { name: 'change a source', weight: 20, make: changeSource },
  { name: 'stage', weight: 12, make: (lane) => verb(lane, 'git_add', { paths: ['src'] }) },
  { name: 'commit', weight: 12, make: commit },
  { name: 'a branch', weight: 6, make: branch },
];

export const gitLaneCalls: readonly CallKind[] = [
  ...gitCalls,
  { name: 'check out', weight: 25, make: checkOut },
  { name: 'merge', weight: 15, make: (lane) => verb(lane, 'git_merge', { branch: pickBranch(lane) }) },
  { name: 'rebase', weight: 10, make: (lane) => verb(lane, 'git_rebase', { onto: pickBranch(lane) }) },
  { name: 'stash', weight: 20, make: stash },
  { name: 'restore', weight: 10, make: (lane) => verb(lane, 'git_restore', { paths: ['src'] }) },
  { name: 'recover', weight: 10, make: (lane) => verb(lane, 'git_recover', {}) },
  { name: 'abort', weight: 8, make: (lane) => verb(lane, 'git_abort', {}) },
  { name: 'continue', weight: 4, make: (lane) => verb(lane, 'git_continue', {}) },
  { name: 'conflicts', weight: 4, make: (lane) => verb(lane, 'git_conflicts', {}) },
  { name: 'fetch', weight: 8, make: (lane) => verb(lane, 'git_fetch', {}) },
  { name: 'pull', weight: 6, make: (lane) => verb(lane, 'git_pull', {}) },
  { name: 'push', weight: 15, make: push },
];

function verb(lane: Lane, tool: string, args: JsonObject): CallPlan {
  return planCall(lane, { tool, args, mayFail: GIT_CODES });
}

/** Notes a commit that was reported to a caller. */
function noting(plan: CallPlan, note: (data: JsonObject) => void): CallPlan {
  return {
    ...plan,
    settle(answer) {
      plan.settle?.(answer);
      if (answer?.ok === true && answer.data !== null) note(answer.data as JsonObject);
    },
  };
}

function readRepository(lane: Lane) {
  const path = sourceName(lane.random.pick(CHANGED));
  return lane.random.pick([
    () => verb(lane, 'git_status', {}),
    () => verb(lane, 'git_log', { max: 5 }),
    () => verb(lane, 'git_diff', { stat: true }),
    () => verb(lane, 'git_show', { rev: 'HEAD' }),
    () => verb(lane, 'git_blame', { path }),
    () => verb(lane, 'git_branch', {}),
  ])();
}

/** Several lanes write the same few files; whole values only, which the repository then has. */
function changeSource(lane: Lane) {
  const index = lane.random.pick(CHANGED);
  const content = `export const part${index} = ${++lane.turn};\n`;
  return verb(lane, 'file_write', { path: sourceName(index), content });
}

function commit(lane: Lane) {
  const message = `chore: turn ${++lane.turn} of lane ${lane.number}`;
  return noting(verb(lane, 'git_commit', { message, allow_empty: true }), ({ commit: hash }) => {
    if (typeof hash === 'string') lane.site.commits.add(hash);
  });
}

function branch(lane: Lane) {
  return verb(lane, 'git_branch', { action: 'create', name: `topic-${lane.number}-${++lane.turn}` });
}

const BRANCHES = ['main', 'side', 'third'];

function pickBranch(lane: Lane): string {
  return lane.random.pick(BRANCHES);
}

function checkOut(lane: Lane) {
  const target = pickBranch(lane);
  const isNew = lane.random.below(4) === 0;
  return verb(lane, 'git_checkout', isNew ? { target, create: true } : { target });
}

function stash(lane: Lane) {
  return verb(lane, 'git_stash', { action: lane.random.pick(['push', 'pop', 'list', 'drop']) });
}

function push(lane: Lane) {
  return noting(verb(lane, 'git_push', {}), ({ commit: hash }) => {
    if (typeof hash === 'string') lane.site.pushed.add(hash);
  });
}
