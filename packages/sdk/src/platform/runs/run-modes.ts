/** Whether a run folder and its result still belong to us alone. */
import { type BigIntStats, fstatSync } from 'node:fs';
import { statEntry } from '../descriptors/directory-entry.ts';
import type { HeldFolder } from '../descriptors/held-folder.ts';

const WRITABLE_BY_OTHERS = 0o022n;

/** What is wrong, in words; empty when nothing is. Changes nothing. */
export function modeProblems({ dirFd }: HeldFolder, file: string): string[] {
  const result = statEntry({ dirFd, name: file });
  return [
    ...problemsOf('run folder', fstatSync(dirFd, { bigint: true })),
    ...(result === undefined ? [] : problemsOf(file, result)),
  ];
}

function problemsOf(subject: string, { uid, mode }: BigIntStats): string[] {
  return [
    ...(Number(uid) === process.geteuid?.() ? [] : [`${subject} belongs to another user`]),
    ...((mode & WRITABLE_BY_OTHERS) === 0n ? [] : [`${subject} can be written by others`]),
  ];
}
