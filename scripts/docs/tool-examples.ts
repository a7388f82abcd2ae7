/**
 * Calls that show what each tool does, one or more for every tool and operation. `tool-examples.deep.test.ts` runs them all
 * in the workspace described there, so each of them works as it stands.
 *
 * `<name>` stands for a value of an earlier answer; `first` are the calls that make it, and what the example acts on.
 */
import type { JsonObject } from '@tool-runtime/protocol';

export interface ToolExample {
  /** What the call does, in a few words. */
  readonly says: string;
  readonly args: JsonObject;
  readonly first?: readonly (readonly [tool: string, args: JsonObject])[];
}

const SUM = { file: 'src/sum.ts', name: 'add' };
const PATCH = '--- a/notes.txt\n+++ b/notes.txt\n@@ -1,3 +1,3 @@\n one\n-two\n+second\n three\n';
const BEGIN_PATCH =
  '*** Begin Patch\n*** Update File: notes.txt\n@@\n-three\n+third\n*** Add File: new.txt\n+new\n*** End Patch\n';
const WRITE = ['file_write', { path: 'notes.txt', content: 'changed\n' }] as const;
const CHANGE = [
  ['file_edit', { path: 'notes.txt', old: 'two', new: 'second' }],
  ['change_list', {}],
] as const;
const PREVIEW = [
  ['shell_exec', { cmd: 'touch made.txt', effects: 'preview' }],
  ['change_list', {}],
] as const;
const JOB = [['shell_exec', { cmd: 'cat', yield_after_ms: 0 }]] as const;
const CONFLICT = [['git_merge', { ref: 'conflicting' }]] as const;

export const TOOL_EXAMPLES: Readonly<Record<string, readonly ToolExample[]>> = {
  artifact_read: [
    {
      says: 'Read the last lines of a long output',
      first: [['shell_exec', { cmd: 'seq 1 200000' }]],
      args: { artifact: '<artifact>', tail_lines: 5 },
    },
    { says: 'Search it', args: { artifact: '<artifact>', search: '^1999.9$' } },
  ],
  ast_edit: [
    { says: 'Rename a function and its uses', args: { operation: 'rename_symbol', ...SUM, new_name: 'sum' } },
    {
      says: 'Rename what stands at a place',
      args: { operation: 'rename_symbol', file: 'src/sum.ts', line: 2, col: 17, new_name: 'add' },
    },
    { says: 'Replace a body', args: { operation: 'replace_body', ...SUM, text: 'return b + a;' } },
    {
      says: 'Replace a whole declaration',
      args: {
        operation: 'replace_symbol',
        ...SUM,
        text: 'export function add(a: number, b: number): number {\n  return a + b;\n}',
      },
    },
    {
      says: 'Insert before a declaration',
      args: { operation: 'insert_before', ...SUM, text: 'export const ZERO = 0;' },
    },
    { says: 'Insert after a declaration', args: { operation: 'insert_after', ...SUM, text: 'export const ONE = 1;' } },
    {
      says: 'Add a member to a class',
      args: {
        operation: 'insert_member',
        file: 'src/sum.ts',
        name: 'Box',
        text: 'size(): number {\n  return this.value;\n}',
      },
    },
    { says: 'Write a doc comment', args: { operation: 'set_doc', ...SUM, text: 'Adds two numbers.' } },
    { says: 'Add an import', args: { operation: 'add_import', file: 'src/main.ts', source: './sum.ts', name: 'Box' } },
    { says: 'Remove it', args: { operation: 'remove_import', file: 'src/main.ts', source: './sum.ts', name: 'Box' } },
    {
      says: 'Move a declaration to another file',
      args: { operation: 'move_symbol', file: 'src/sum.ts', name: 'Box', to_file: 'src/box.ts' },
    },
    {
      says: 'Delete a declaration that is not used',
      args: { operation: 'delete_symbol', file: 'src/sum.ts', name: 'ZERO' },
    },
    {
      says: 'Rewrite code by a pattern, as a dry run',
      args: {
        operation: 'rewrite',
        language: 'typescript',
        pattern: 'console.log($A)',
        replacement: 'console.info($A)',
        dry_run: true,
      },
    },
    {
      says: 'Several operations, all or nothing',
      args: {
        operation: 'batch',
        operations: [
          { operation: 'set_doc', ...SUM, text: 'Adds.' },
          { operation: 'rename_symbol', ...SUM, new_name: 'plus' },
        ],
      },
    },
    {
      says: 'Let a language server fix something',
      args: { operation: 'code_action', file: 'src/main.ts', line: 1, kind: 'source.organizeImports' },
    },
  ],
  ast_external: [
    {
      says: 'Ask a language server',
      args: {
        provider: 'typescript',
        request: { method: 'textDocument/documentSymbol', params: { textDocument: { uri: 'src/sum.ts' } } },
      },
    },
  ],
  ast_generate: [{ says: 'Index the code', args: {} }],
  ast_query: [
    { says: 'Find declarations', args: { where: { name_like: 'add' } } },
    { says: 'Outline a file', args: { where: { file_glob: 'src/sum.ts' }, view: 'outline' } },
    { says: 'With their source', args: { where: { name_like: 'add' }, view: 'source' } },
    { says: 'Who uses them', args: { where: { name_like: 'add' }, view: 'references' } },
    {
      says: 'Code that has a form',
      args: { where: { language: 'typescript' }, view: 'matches', pattern: 'console.log($A)' },
    },
    { says: 'What files import', args: { where: { file_glob: 'src/*.ts' }, view: 'imports' } },
  ],
  ast_validate: [
    {
      says: 'Functions must have a doc comment',
      args: { rules: [{ id: 'docs', where: { type: 'fn' }, must_have: ['docstring'] }] },
    },
  ],
  change_apply: [{ says: 'Make a previewed change real', first: PREVIEW, args: { change_id: '<change_id>' } }],
  change_discard: [{ says: 'Drop a previewed change', first: PREVIEW, args: { change_id: '<change_id>' } }],
  change_list: [{ says: 'The latest changes', args: { limit: 5 } }],
  change_show: [
    { says: 'What a change did', first: CHANGE, args: { change_id: '<change_id>' } },
    { says: 'Only which files, and how much', args: { change_id: '<change_id>', view: 'stat' } },
  ],
  change_undo: [{ says: 'Take a change back', first: CHANGE, args: { change_id: '<change_id>' } }],
  curl: [{ says: 'Ask a host that the registry allows', args: { url: 'http://<host>/status', as_text: true } }],
  emit_metrics: [{ says: 'Figures of the session', args: {} }],
  file_edit: [
    { says: 'Replace a text that occurs once', args: { path: 'notes.txt', old: 'two', new: 'second' } },
    { says: 'Replace every place', args: { path: 'notes.txt', old: 'e', new: 'E', all: true } },
    { says: 'Of several places the nearest', args: { path: 'src/sum.ts', old: 'number', new: 'bigint', near_line: 7 } },
    {
      says: 'Several edits; each sees the one before',
      args: {
        path: 'README.md',
        edits: [
          { old: '# Demo', new: '# Sums' },
          { old: '# Sums\n', new: '# Sums\n\nSmall.\n' },
        ],
      },
    },
    {
      says: 'Several files, all or nothing',
      args: {
        edits: [
          { path: 'src/main.ts', old: 'add(1, 2)', new: 'add(2, 3)' },
          { path: 'README.md', old: 'TODO', new: 'Later' },
        ],
      },
    },
    { says: 'Create a file', args: { path: 'src/new.ts', old: '', new: 'export const one = 1;\n' } },
    { says: 'Only show the diff', args: { path: 'README.md', old: 'Small.', new: 'Tiny.', dry_run: true } },
  ],
  file_patch: [
    { says: 'Apply a unified diff', args: { path: 'notes.txt', unified_diff: PATCH } },
    { says: 'Change several files', args: { unified_diff: BEGIN_PATCH } },
  ],
  file_read: [
    { says: 'Read a file', args: { path: 'README.md' } },
    { says: 'Lines 2 and 3, numbered', args: { path: 'src/sum.ts', offset: 2, limit: 2, line_numbers: true } },
    { says: 'Read several files', args: { path: ['README.md', 'src/sum.ts'] } },
  ],
  file_write: [
    { says: 'Write a file', args: { path: 'docs/new.md', content: '# New\n' } },
    { says: 'Append to it', args: { path: 'docs/new.md', content: 'More.\n', append: true } },
  ],
  fs_copy: [{ says: 'Copy a folder', args: { src: 'src', dst: 'copy' } }],
  fs_delete: [{ says: 'Delete a folder', args: { path: 'src', recursive: true } }],
  fs_list: [{ says: 'Files by glob', args: { glob: 'src/**/*.ts' } }],
  fs_move: [{ says: 'Rename a file', args: { src: 'notes.txt', dst: 'docs/notes.txt', create_dirs: true } }],
  fs_stat: [{ says: 'Describe files', args: { path: ['README.md', 'src', 'missing.txt'] } }],
  fs_tree: [
    { says: 'The workspace as a tree', args: {} },
    { says: 'One level of a folder', args: { path: 'src', depth: 1 } },
  ],
  git_abort: [{ says: 'Give up a merge', first: CONFLICT, args: {} }],
  git_add: [{ says: 'Stage everything', first: [WRITE], args: { paths: ['.'] } }],
  git_blame: [{ says: 'Who wrote which line', args: { path: 'notes.txt' } }],
  git_branch: [
    { says: 'List branches', args: {} },
    { says: 'Create one', args: { action: 'create', name: 'topic' } },
    { says: 'Rename it', args: { action: 'rename', name: 'topic', new_name: 'subject' } },
    { says: 'Delete it', args: { action: 'delete', name: 'subject' } },
    { says: 'Follow a remote branch', args: { action: 'set_upstream', name: 'main', upstream: 'origin/main' } },
  ],
  git_checkout: [
    { says: 'Switch to a branch', args: { ref: 'feature' } },
    { says: 'Create a branch and switch to it', args: { ref: 'topic', create: true } },
  ],
  git_commit: [
    {
      says: 'Commit what is staged',
      first: [WRITE, ['git_add', { paths: ['.'] }]],
      args: { message: 'Change the notes' },
    },
  ],
  git_conflicts: [{ says: 'What is in conflict', first: CONFLICT, args: {} }],
  git_continue: [
    {
      says: 'Finish a merge whose conflicts are resolved',
      first: [...CONFLICT, WRITE, ['git_add', { paths: ['notes.txt'] }]],
      args: {},
    },
  ],
  git_diff: [{ says: 'Changes that are not staged', first: [WRITE], args: {} }],
  git_fetch: [{ says: 'Fetch from origin', args: {} }],
  git_log: [{ says: 'The latest commits', args: {} }],
  git_merge: [{ says: 'Merge a branch', args: { ref: 'feature' } }],
  git_pull: [{ says: 'Pull from origin', args: {} }],
  git_push: [{ says: 'Push the current branch', args: {} }],
  git_rebase: [{ says: 'Put the commits of a branch on another', args: { ref: 'main', branch: 'feature' } }],
  git_recover: [
    { says: 'List recovery points', first: [['git_merge', { ref: 'feature' }]], args: { list: true } },
    { says: 'Go back to one', args: { recovery: '<recovery>' } },
  ],
  git_restore: [{ says: 'Bring a file back', first: [WRITE], args: { paths: ['notes.txt'] } }],
  git_show: [{ says: 'Show a commit', args: { ref: 'HEAD' } }],
  git_stash: [
    { says: 'Put changes aside', first: [WRITE], args: { action: 'push' } },
    { says: 'List what was put aside', args: { action: 'list' } },
    { says: 'Show one', args: { action: 'show' } },
    { says: 'Bring it back and keep it', args: { action: 'apply' } },
    { says: 'Drop it', args: { action: 'drop' } },
    { says: 'Bring changes back', first: [['git_stash', { action: 'push' }]], args: { action: 'pop' } },
  ],
  git_status: [{ says: 'What changed', args: {} }],
  grep: [
    { says: 'Lines that match', args: { pattern: 'add\\(', glob: 'src/**' } },
    { says: 'Only the files', args: { pattern: 'add', files_only: true } },
    { says: 'Only counts', args: { pattern: 'add', count: true } },
  ],
  job_input: [{ says: 'Write to a job', first: JOB, args: { job: '<job>', text: 'hello\n', end: true } }],
  job_list: [{ says: 'Jobs of the session', first: JOB, args: {} }],
  job_poll: [{ says: 'New output of a job', first: JOB, args: { job: '<job>' } }],
  job_stop: [{ says: 'Stop a job', first: JOB, args: { job: '<job>' } }],
  proc_list: [{ says: 'Processes of the session', args: {} }],
  shell_exec: [
    { says: 'Run a command', args: { cmd: 'echo hello' } },
    { says: 'Start a job', args: { cmd: 'sleep 30', yield_after_ms: 0 } },
    { says: 'Record what it writes, for change_undo', args: { cmd: 'touch noted.txt', effects: 'recorded' } },
    { says: 'Record nothing of what it writes', args: { cmd: 'touch plain.txt', effects: 'direct' } },
    { says: 'Keep what it writes for change_apply', args: { cmd: 'touch made.txt', effects: 'preview' } },
  ],
  tx_abort: [{ says: 'Give up a transaction', first: [['tx_begin', {}]], args: { tx_id: '<tx_id>' } }],
  tx_begin: [{ says: 'Begin a transaction', args: {} }],
  tx_commit: [{ says: 'Make a transaction real', first: [['tx_begin', {}]], args: { tx_id: '<tx_id>' } }],
  validate: [
    { says: 'Run the rules over the work tree', args: {} },
    { says: 'Over what is staged', first: [WRITE, ['git_add', { paths: ['.'] }]], args: { scope: 'staged' } },
    { says: 'Over the commits since a revision', args: { scope: 'range', since: 'HEAD~1' } },
  ],
};
