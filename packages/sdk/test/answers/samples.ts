/** One answer of every built-in tool, with the arguments it answers. Their texts are in texts.txt. */
import { type AnswerSample, GIT_SAMPLES, PATCH } from './git-samples.ts';

const SHA = '9f86d081884c7d659a2feaa0c55ad015a3bf4f1b2b0b822cd15d6c15b0f00a08';
const TRANSACTION = {
  tx_id: 'tx-1',
  actor: 'local',
  session_id: 'sess-1',
  at: '2026-11-18T01:00:00.000Z',
  expires_at: '2026-11-18T02:00:00.000Z',
};
const ARTIFACT = `artifact:${'0123456789abcdef'.repeat(2)}`;
const FIGURES = {
  calls: 3,
  errors: 1,
  error_codes: { E_POLICY: 1 },
  denials: 1,
  duration_ms: 12.5,
  max_duration_ms: 9,
  durations: [3],
  files_touched: 1,
  bytes: 120,
  lock_waits: 0,
  lock_wait_ms: 0,
  approval_waits: 0,
  approval_wait_ms: 0,
};

/** Where one tool has several kinds of answers: `tool/kind`. */
export const SAMPLES: Readonly<Record<string, AnswerSample>> = {
  file_read: {
    args: { path: 'src/a.ts' },
    data: {
      content: 'const a = 1;\nlet b;\n',
      sha256: SHA,
      size: 20,
      truncated: false,
      encoding: 'utf-8',
      newline: 'lf',
    },
  },
  'file_read/several': {
    args: { path: ['src/a.ts', 'gone', 'big', 'empty', 'logo.png'] },
    data: {
      content: '',
      sha256: null,
      size: 9000,
      truncated: true,
      encoding: 'utf-8',
      files: [
        {
          path: 'src/a.ts',
          content: 'const a = 1;\n',
          sha256: SHA,
          size: 13,
          truncated: false,
          encoding: 'utf-8',
          newline: 'lf',
        },
        { path: 'gone', error: { code: 'E_FILE_IO', message: 'No such file: gone', reason: 'ENOENT' } },
        { path: 'big', content: 'x\ny\n', sha256: SHA, size: 8900, truncated: true, encoding: 'utf-8', newline: 'lf' },
        { path: 'empty', content: '', sha256: SHA, size: 0, truncated: false, encoding: 'utf-8', newline: 'none' },
        {
          path: 'logo.png',
          content: 'iVBORw0KGgoAAAA=',
          sha256: SHA,
          size: 11,
          truncated: false,
          encoding: 'base64',
          binary: true,
        },
      ],
    },
  },
  'file_read/numbered': {
    args: { path: 'src/a.ts', offset: 9, limit: 2, line_numbers: true },
    data: {
      content: 'nine();\nten();\n',
      sha256: SHA,
      size: 200,
      truncated: false,
      encoding: 'utf-8',
      newline: 'lf',
      lines: { start: 9, end: 10 },
      total_lines: 40,
    },
  },
  'file_read/picture': {
    args: { path: 'logo.png' },
    data: { content: 'iVBORw0KGgoAAAA=', sha256: SHA, size: 11, truncated: false, encoding: 'base64', binary: true },
  },
  'file_read/binary': {
    args: { path: 'a.bin' },
    data: { content: 'AAEC', sha256: SHA, size: 3, truncated: false, encoding: 'base64', binary: true },
  },
  file_write: {
    args: { path: 'src/a.ts', content: 'x' },
    data: { written: true, bytes: 1, size: 1, sha256: SHA, before_sha256: null, changed: true, created: true },
  },
  change_list: {
    args: {},
    data: {
      changes: [
        {
          change_id: 'c-2',
          tool: 'file_write',
          actor: 'local',
          at: '2026-11-16T20:00:00.000Z',
          status: 'applied',
          files: 1,
          paths: [{ path: 'src/a.ts', change: 'changed' }],
          withheld: 0,
        },
      ],
      transactions: [TRANSACTION],
    },
  },
  tx_begin: { args: {}, data: TRANSACTION },
  tx_commit: {
    args: {},
    data: {
      tx_id: 'tx-1',
      paths: [
        { path: 'src/a.ts', change: 'changed' },
        { path: 'src/b.ts', change: 'created' },
      ],
      merged: ['src/a.ts'],
      checked: ['build', 'test'],
    },
  },
  tx_abort: { args: { tx_id: 'tx-1' }, data: { tx_id: 'tx-1', discarded: 2 } },
  change_show: {
    args: { change_id: 'c-2' },
    data: {
      change_id: 'c-2',
      tool: 'file_write',
      actor: 'local',
      at: '2026-11-16T20:00:00.000Z',
      status: 'applied',
      paths: [{ path: 'src/a.ts', change: 'changed' }],
      withheld: 1,
      diff: '--- a/src/a.ts\n+++ b/src/a.ts\n@@ -1 +1 @@\n-old\n+new\n',
      truncated: false,
    },
  },
  change_undo: {
    args: { change_id: 'c-2' },
    data: { undone: ['c-2'], paths: [{ path: 'src/a.ts', change: 'changed' }], merged: ['src/a.ts'] },
  },
  change_apply: {
    args: { change_id: 'c-3' },
    data: { applied: true, paths: [{ path: 'src/new.ts', change: 'created' }] },
  },
  change_discard: { args: { change_id: 'c-3' }, data: { discarded: true } },
  file_edit: {
    args: { path: 'src/a.ts', edits: [{ old: 'old', new: 'new' }] },
    data: {
      changed: true,
      created: false,
      dry_run: false,
      edits: [{ line: 4, end_line: 4, match: 'indent', places: 1 }],
      diff: '@@ -3 +3 @@\n if (a) {\n-  old();\n+  new();\n }\n',
      bytes: 20,
      sha256: SHA,
      before_sha256: SHA,
    },
  },
  'file_edit/several': {
    args: {
      edits: [
        { path: 'src/a.ts', old: 'old', new: 'new' },
        { path: 'src/b\n.ts', old: '', new: 'b' },
      ],
      dry_run: true,
    },
    data: {
      changed: true,
      created: true,
      dry_run: true,
      edits: [],
      diff: '--- a/src/a.ts\n+++ b/src/a.ts\n@@ -1 +1 @@\n-old\n+new\n--- /dev/null\n+++ b/src/b\\n.ts\n@@ -0,0 +1 @@\n+b\n',
      bytes: 21,
      sha256: null,
      before_sha256: null,
      files: [
        {
          path: 'src/a.ts',
          changed: true,
          created: false,
          edits: [
            { line: 1, end_line: 1, match: 'exact', places: 1 },
            { line: 7, end_line: 7, match: 'unicode', places: 3 },
          ],
          bytes: 20,
          sha256: SHA,
          before_sha256: SHA,
        },
        {
          path: 'src/b\n.ts',
          changed: true,
          created: true,
          edits: [{ line: 1, end_line: 1, match: 'exact', places: 1 }],
          bytes: 1,
          sha256: SHA,
          before_sha256: null,
        },
      ],
    },
  },
  file_patch: {
    args: { path: 'src/a.ts', unified_diff: PATCH },
    data: {
      patched: true,
      hunks_applied: 1,
      changed: true,
      created: false,
      deleted: false,
      bytes: 20,
      sha256: SHA,
      before_sha256: SHA,
      hunks: [{ hunk: 1, line: 4, offset: 3, added: 1, removed: 1, match: 'indent' }],
    },
  },
  fs_copy: { args: { src: 'a', dst: 'b' }, data: { copied: true, entries: 2, bytes: 10, replaced: false } },
  fs_move: { args: { src: 'a', dst: 'b' }, data: { moved: true, entries: 1, bytes: 10, replaced: true } },
  fs_delete: { args: { path: 'a' }, data: { deleted: true, entries: 1, bytes: 10 } },
  fs_stat: {
    args: { path: ['src/a.ts', 'link', 'gone', 'src'] },
    data: {
      entries: [
        {
          path: 'src/a.ts',
          type: 'file',
          size: 20,
          mode: '0644',
          mtime: '2026-11-16T08:00:00.000Z',
          sha256: SHA,
          lines: 1,
          ignored: true,
        },
        { path: 'link', type: 'symlink', size: 5, mode: '0777', mtime: '2026-11-16T08:00:00.000Z', target: '../a\nb' },
        { path: 'gone', type: 'missing' },
        { path: 'src', type: 'directory', size: 4096, mode: '0755', mtime: '2026-11-16T08:00:00.000Z', ignored: false },
      ],
    },
  },
  fs_tree: {
    args: { path: 'src', max_entries: 3 },
    data: {
      path: 'src/',
      depth: 2,
      files: 9,
      folders: 1,
      partial: false,
      entries: [{ path: 'src/a/', files: 8, folders: 0 }, { path: 'src/a/x.ts' }, { path: 'src/b\n.ts' }],
      next: 'src/b\n.ts',
    },
  },
  fs_list: { args: { glob: 'src/**' }, data: { files: ['src/a.ts', 'src/b\n.ts'], truncated: false } },
  grep: {
    args: { pattern: 'const', context: 1 },
    data: {
      matches: [
        { file: 'src/a.ts', line: 2, col: 1, snippet: 'const a = 1;', before: ['// one'], after: ['// three'] },
        { file: 'src/a.ts', line: 9, col: 1, snippet: 'const z = 1;', before: [''], after: [] },
        { file: 'src/b.ts', line: 1, col: 1, snippet: 'const b = "\\n";', before: [], after: [] },
      ],
      truncated: true,
      partial: false,
    },
  },
  'grep/files': {
    args: { pattern: 'a', files_only: true },
    data: { matches: [], files: ['a.ts'], truncated: false, partial: false },
  },
  'grep/counts': {
    args: { pattern: 'a', count: true },
    data: { matches: [], counts: [{ file: 'a.ts', count: 3 }], truncated: false, partial: true },
  },
  ...GIT_SAMPLES,
  artifact_read: {
    args: { artifact: ARTIFACT },
    data: { content: 'line one\nline two\n', offset: 0, next_offset: 18, total_bytes: 4000, truncated: false },
  },
  'artifact_read/search': {
    args: { artifact: ARTIFACT, search: 'two' },
    data: {
      content: '',
      offset: 0,
      next_offset: null,
      total_bytes: 4000,
      matches: [{ line: 2, text: 'line two' }],
      truncated: false,
    },
  },
  emit_metrics: {
    args: {},
    data: {
      status: 'emitted',
      session_id: 's1',
      interval: 0,
      rollup: { tools: { file_read: FIGURES }, total: FIGURES, duration_bounds_ms: [1] },
    },
  },
  validate: {
    args: {},
    data: {
      violations: [
        { rule: 'secrets.scan', level: 'blocking', message: 'A token', path: 'src/a.ts', line: 3, next: 'remove it' },
      ],
      rules: [{ id: 'secrets.scan', level: 'blocking', status: 'failed', description: 'No secrets' }],
      passed: false,
      files: 4,
      scope: 'changed',
      truncated: false,
    },
  },
  curl: {
    args: { url: 'http://127.0.0.1/a' },
    data: {
      status: 200,
      headers: { 'content-type': 'text/plain' },
      body_b64: 'aGVsbG8K',
      truncated: false,
      url: 'http://127.0.0.1/b',
      redirects: ['http://127.0.0.1/b'],
    },
  },
  job_input: { args: { job: 'job-1', text: 'y\n' }, data: { job: 'job-1', written: 2 } },
  job_list: {
    args: {},
    data: {
      jobs: [{ job: 'job-1', command: 'npm run dev', state: 'running', code: null, started_at: 1_794_819_600_000 }],
    },
  },
  job_poll: {
    args: { job: 'job-1' },
    data: {
      job: 'job-1',
      state: 'exited',
      code: 1,
      signal: null,
      stdout: 'ready\n',
      stderr: 'oops\n',
      missed_bytes: 3,
    },
  },
  job_stop: { args: { job: 'job-1' }, data: { job: 'job-1', state: 'killed', code: null } },
  proc_list: { args: {}, data: { processes: [{ pid: 7, cmd: 'node a.js', cpu: 1.5, mem_mb: 40 }], truncated: false } },
  shell_exec: {
    args: { cmd: 'npm test' },
    data: {
      code: 1,
      stdout: 'running\n',
      stderr: 'one failed\n',
      stdout_bytes: 8,
      stderr_bytes: 11,
      truncated: false,
      network_enforced: true,
    },
  },
  'shell_exec/job': {
    args: { cmd: 'npm run dev', yield_after_ms: 0 },
    data: {
      code: null,
      stdout: '',
      stderr: '',
      stdout_bytes: 0,
      stderr_bytes: 0,
      truncated: false,
      network_enforced: true,
      job: 'job-1',
    },
  },
  'shell_exec/artifact': {
    args: { cmd: 'seq 9' },
    data: {
      code: 0,
      stdout: '1\n…\n9\n',
      stderr: '',
      stdout_bytes: 900,
      stderr_bytes: 0,
      truncated: true,
      stdout_left_out: { from: 2, bytes: 895, lines: 7 },
      stdout_artifact: ARTIFACT,
      network_enforced: true,
    },
  },
};
