/** One answer of every git tool. */
import type { JsonObject } from '@tool-runtime/protocol';

export interface AnswerSample {
  readonly args: JsonObject;
  readonly data: JsonObject;
}

const HASH = 'a94a8fe5ccb19ba61c4c0873d391e987982fbbd3';
const PARENT = 'c0ffee254729296a45a3885639ac7e10f9d54979';
const RECOVERY = 'refs/tool-runtime/recovery/20261116-1';
const PERSON = { name: 'Ada', email: 'ada@example.org', date: '2026-11-16T10:00:00+01:00' };
export const PATCH =
  'diff --git a/src/a.ts b/src/a.ts\n--- a/src/a.ts\n+++ b/src/a.ts\n@@ -1 +1 @@\n-let a = 1;\n+const a = 1;\n';
const FILES = [{ path: 'src/a.ts', status: 'modified', additions: 1, deletions: 1, binary: false }];
const COMMIT = {
  hash: HASH,
  parents: [PARENT],
  author: PERSON,
  committer: PERSON,
  subject: 'Fix a',
  refs: ['refs/heads/main'],
};

export const GIT_SAMPLES: Readonly<Record<string, AnswerSample>> = {
  git_abort: { args: {}, data: { aborted: true, operation: 'merge', head: HASH, branch: 'main', recovery: RECOVERY } },
  git_add: { args: { paths: ['src'] }, data: { added: 1, paths: ['src/a.ts'] } },
  git_blame: {
    args: { path: 'src/a.ts' },
    data: {
      path: 'src/a.ts',
      groups: [
        {
          commit: HASH,
          author: 'Ada',
          email: 'ada@example.org',
          date: PERSON.date,
          summary: 'Fix a',
          from_line: 1,
          lines: 3,
          path: 'src/a.ts',
          original_line: 1,
        },
        {
          commit: null,
          author: null,
          email: null,
          date: null,
          summary: null,
          from_line: 4,
          lines: 1,
          path: 'src/a.ts',
          original_line: 4,
        },
      ],
      truncated: true,
    },
  },
  git_branch: {
    args: {},
    data: {
      current: 'main',
      branches: [
        {
          name: 'main',
          hash: HASH,
          upstream: 'origin/main',
          ahead: 1,
          behind: 0,
          current: true,
          remote: false,
          subject: 'Fix a',
        },
      ],
      truncated: false,
    },
  },
  git_checkout: {
    args: { ref: 'topic' },
    data: {
      checked_out: true,
      branch: 'topic',
      head: HASH,
      previous: 'main',
      created: true,
      upstream: null,
      recovery: RECOVERY,
    },
  },
  git_commit: { args: { message: 'Fix a' }, data: { commit: HASH, tree: PARENT, parent: PARENT } },
  git_conflicts: {
    args: {},
    data: {
      in_progress: 'merge',
      files: [
        {
          path: 'src/a.ts',
          kind: 'both_modified',
          base: null,
          ours: null,
          theirs: null,
          hunks: [{ start_line: 1, end_line: 5, ours: 'const a = 1;', base: null, theirs: 'const a = 2;' }],
          binary: false,
        },
      ],
      total_files: 1,
      truncated: false,
    },
  },
  git_continue: {
    args: {},
    data: {
      operation: 'rebase',
      finished: false,
      conflicts: ['src/a.ts'],
      head: HASH,
      branch: null,
      recovery: RECOVERY,
    },
  },
  git_diff: { args: {}, data: { patch: PATCH, files: FILES, total_files: 1, truncated: false } },
  'git_diff/stat': { args: { stat: true }, data: { patch: '', files: FILES, total_files: 1, truncated: false } },
  git_fetch: {
    args: {},
    data: { fetched: true, updated: [{ ref: 'refs/remotes/origin/main', from: null, to: HASH }] },
  },
  git_log: { args: { max: 1 }, data: { commits: [{ ...COMMIT, body: 'Because it was\nwrong.\n' }], truncated: true } },
  git_merge: {
    args: { ref: 'topic' },
    data: { merged: false, conflicts: ['src/a.ts'], fast_forward: false, up_to_date: false, recovery: RECOVERY },
  },
  git_pull: {
    args: {},
    data: { pulled: true, remote: 'origin', upstream: 'origin/main', up_to_date: false, head: HASH, conflicts: [] },
  },
  git_push: {
    args: {},
    data: { pushed: true, remote: 'origin', destination: 'refs/heads/main', commit: HASH, up_to_date: false },
  },
  git_rebase: {
    args: { ref: 'main' },
    data: { rebased: true, head: HASH, branch: 'topic', commits: 2, recovery: RECOVERY },
  },
  git_recover: {
    args: { list: true },
    data: {
      restored: false,
      from: null,
      recovery: null,
      head: null,
      branch: null,
      files: 0,
      recoveries: [
        {
          recovery: RECOVERY,
          verb: 'git_merge',
          time: PERSON.date,
          head: HASH,
          branch: 'main',
          files: 2,
          deleted: 0,
          skipped: 1,
        },
      ],
    },
  },
  git_restore: { args: { paths: ['src/a.ts'] }, data: { restored: ['src/a.ts'], recovery: RECOVERY } },
  git_show: {
    args: {},
    data: { hash: HASH, commit: { ...COMMIT, body: '', patch: PATCH, files: FILES, total_files: 1 }, truncated: false },
  },
  'git_show/file': {
    args: { path: 'src/a.ts' },
    data: {
      hash: HASH,
      file: { path: 'src/a.ts', mode: '100644', blob: HASH, size: 13, content: 'const a = 1;\n', encoding: 'utf-8' },
      truncated: false,
    },
  },
  git_stash: {
    args: { action: 'show' },
    data: {
      done: true,
      stashes: [{ index: 0, commit: HASH, message: 'WIP', time: PERSON.date }],
      conflicts: [],
      files: ['src/a.ts'],
      untracked: ['new.ts'],
      patch: PATCH,
      truncated: false,
      recovery: null,
    },
  },
  git_status: {
    args: {},
    data: {
      branch: 'main',
      head: HASH,
      detached: false,
      upstream: 'origin/main',
      ahead: 1,
      behind: 2,
      changes: [
        { path: 'src/a.ts', status: 'M', staged: true, unstaged: false },
        { path: 'new.ts', status: '??', staged: false, unstaged: true },
        { path: 'b.ts', from: 'a.ts', status: 'R', staged: true, unstaged: false },
      ],
      clean: false,
      in_progress: null,
      stashes: 1,
      truncated: false,
    },
  },
};
