/** One or more calls for every tool that changes something, with a second writer who touches the same things. */
import { chmodSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { sha256Hex } from '../src/platform/digest.ts';
import { type KeyedCase, OLD, others, put, withOld } from './keyed-case.ts';
import { GIT_CASES, repository } from './keyed-git-cases.ts';

const compared = { outcome: 'compared' } as const;
const existing = { ...compared, prepare: withOld, interfere: others, takeBack: withOld };

const FILES: readonly KeyedCase[] = [
  { name: 'file_write', tool: 'file_write', args: { path: 'a.txt', content: 'new\n' }, ...existing },
  {
    name: 'file_write with a mode',
    tool: 'file_write',
    args: { path: 'a.txt', content: OLD, mode_octal: '0755' },
    ...existing,
    takeBack: (folder) => chmodSync(join(folder, 'a.txt'), 0o644),
  },
  {
    name: 'file_write of a new file',
    tool: 'file_write',
    args: { path: 'deep/new/a.txt', content: 'new\n' },
    ...compared,
    prepare: () => {},
    interfere: (folder) => put(folder, 'deep/new/a.txt', 'of somebody else\n'),
  },
  {
    name: 'file_write that appends',
    tool: 'file_write',
    args: { path: 'a.txt', content: 'more\n', append: true },
    ...existing,
  },
  {
    name: 'file_write on a condition',
    tool: 'file_write',
    args: { path: 'a.txt', content: 'new\n', expected_sha256: sha256Hex(OLD) },
    ...existing,
  },
  {
    name: 'file_write that only creates',
    tool: 'file_write',
    args: { path: 'b.txt', content: 'new\n', create_only: true },
    ...compared,
    prepare: withOld,
    interfere: (folder) => put(folder, 'b.txt', 'of somebody else\n'),
  },
  {
    name: 'file_edit',
    tool: 'file_edit',
    args: { path: 'a.txt', old: 'old', new: 'old and new' },
    ...existing,
  },
  {
    name: 'file_edit of several files',
    tool: 'file_edit',
    args: {
      edits: [
        { path: 'a.txt', old: 'old', new: 'old and new' },
        { path: 'b.txt', old: 'other', new: 'other and new' },
        { path: 'c.txt', old: '', new: 'created' },
      ],
    },
    ...compared,
    prepare(folder) {
      withOld(folder);
      put(folder, 'b.txt', 'other\n');
    },
    interfere: others,
    takeBack(folder) {
      withOld(folder);
      put(folder, 'b.txt', 'other\n');
      rmSync(join(folder, 'c.txt'), { force: true });
    },
  },
  {
    name: 'file_patch',
    tool: 'file_patch',
    args: { path: 'a.txt', unified_diff: '--- a/a.txt\n+++ b/a.txt\n@@ -1 +1,2 @@\n old\n+new\n' },
    ...existing,
  },
  {
    name: 'file_patch that deletes',
    tool: 'file_patch',
    args: { path: 'a.txt', unified_diff: '--- a/a.txt\n+++ /dev/null\n@@ -1 +0,0 @@\n-old\n' },
    ...existing,
  },
  { name: 'fs_delete', tool: 'fs_delete', args: { path: 'a.txt' }, ...existing },
  {
    name: 'fs_delete of a folder',
    tool: 'fs_delete',
    args: { path: 'd', recursive: true },
    ...compared,
    prepare: (folder) => put(folder, 'd/e/a.txt', OLD),
    interfere: (folder) => put(folder, 'd/e/b.txt', 'of somebody else\n'),
  },
  {
    name: 'fs_move',
    tool: 'fs_move',
    args: { src: 'a.txt', dst: 'b.txt' },
    ...compared,
    prepare: withOld,
    interfere: (folder) => put(folder, 'b.txt', 'of somebody else\n'),
  },
  {
    name: 'fs_move of a folder over another',
    tool: 'fs_move',
    args: { src: 'd', dst: 'e', overwrite: true },
    ...compared,
    prepare(folder) {
      put(folder, 'd/f/a.txt', OLD);
      put(folder, 'e/b.txt', 'replaced\n');
    },
    interfere: (folder) => put(folder, 'e/f/c.txt', 'of somebody else\n'),
  },
  {
    name: 'fs_copy',
    tool: 'fs_copy',
    args: { src: 'a.txt', dst: 'b.txt', overwrite: true, preserve_mode: false },
    ...compared,
    prepare(folder) {
      withOld(folder);
      chmodSync(join(folder, 'a.txt'), 0o700);
      put(folder, 'b.txt', 'replaced\n');
    },
    interfere: (folder) => put(folder, 'b.txt', 'of somebody else\n'),
    takeBack: (folder) => put(folder, 'b.txt', 'replaced\n'),
  },
  {
    name: 'fs_copy of a folder',
    tool: 'fs_copy',
    args: { src: 'd', dst: 'e' },
    ...compared,
    prepare: (folder) => put(folder, 'd/f/a.txt', OLD),
    interfere: (folder) => put(folder, 'e/f/a.txt', 'of somebody else\n'),
  },
];

const PROGRAMS = "shell_allow: ['^tee -a [a-z.]+$', '^cat$']\n";

const OTHER: readonly KeyedCase[] = [
  {
    name: 'shell_exec',
    tool: 'shell_exec',
    args: { cmd: 'tee -a a.txt', stdin: 'more\n' },
    registry: PROGRAMS,
    outcome: 'unknown',
    prepare: withOld,
    interfere: others,
  },
  {
    name: 'job_input',
    tool: 'job_input',
    args: { text: 'more\n' },
    registry: PROGRAMS,
    outcome: 'unknown',
    prepare: withOld,
    interfere: others,
    first: [{ tool: 'shell_exec', args: { cmd: 'cat', yield_after_ms: 0 } }],
    diesWithProcess: true,
  },
  {
    name: 'job_stop',
    tool: 'job_stop',
    args: {},
    registry: PROGRAMS,
    outcome: 'unknown',
    prepare: withOld,
    interfere: others,
    first: [{ tool: 'shell_exec', args: { cmd: 'cat', yield_after_ms: 0 } }],
    diesWithProcess: true,
  },
  {
    name: 'validate that runs programs',
    tool: 'validate',
    args: {},
    registry: "commands:\n  build: 'true'\n",
    outcome: 'unknown',
    prepare: (folder, beside) => void repository(folder, beside),
    interfere: others,
  },
];

/** Edits, a removal, a move and a new folder that become real together; what was only staged ends with the process. */
const TRANSACTIONS: readonly KeyedCase[] = [
  {
    name: 'tx_commit',
    tool: 'tx_commit',
    args: {},
    registry: PROGRAMS,
    ...compared,
    prepare(folder) {
      withOld(folder);
      put(folder, 'b.txt', 'other\n');
      put(folder, 'from/c.txt', 'moved\n');
    },
    interfere: others,
    takeBack: withOld,
    first: [
      { tool: 'tx_begin', args: {} },
      { tool: 'file_write', args: { path: 'a.txt', content: 'new\n' } },
      { tool: 'file_write', args: { path: 'deep/new/d.txt', content: 'new\n' } },
      { tool: 'fs_delete', args: { path: 'b.txt' } },
      { tool: 'fs_move', args: { src: 'from', dst: 'to' } },
    ],
    diesWithProcess: true,
  },
];

export const CASES = { files: FILES, git: GIT_CASES, other: OTHER, transactions: TRANSACTIONS } as const;

/** `url`: of a server that counts requests. */
export function curlCase(url: string, registry: string): KeyedCase {
  return {
    ...{ name: 'curl', tool: 'curl', args: { url, method: 'POST', body: 'once' }, registry },
    ...{ outcome: 'unknown', prepare: withOld, interfere: others },
  };
}
