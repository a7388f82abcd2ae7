/**
 * Heads of journals in a file outside of their state folders, one a line: `<time> <seq>:<mac> <state folder>`.
 *
 * The file is only ever added to. A process that cannot write it cannot hide that a journal was cut or replaced.
 */
import { closeSync, constants, fsyncSync, openSync, readFileSync, writeSync } from 'node:fs';
import { isAbsolute, join, relative } from 'node:path';
import { failure } from '../../contracts/failures.ts';
import type { ChainHead } from '../../contracts/journal.ts';
import { realPath } from '../descriptors/trace-path.ts';
import { errnoCode } from '../errno-error.ts';

const LINE = /^\S+ (\d{1,15}):([0-9a-f]{64}) (.+)$/;

/** Throws ToolError when the file lies where the journal or a tool could change it. */
export function checkWitness(file: string, folders: readonly string[]): void {
  const place = join(realPath(join(file, '..')), file.slice(file.lastIndexOf('/') + 1));
  for (const folder of folders) {
    const way = relative(realPath(folder), place);
    if (way.startsWith('..') || isAbsolute(way)) continue;
    throw failure('host_configuration_needed', 'host_configuration_needed', `Witness file lies inside ${folder}`, {
      details: { gate: 'journal', reason: 'witness_inside', next: 'name a file outside of workspace and state folder' },
    });
  }
}

export function addToWitness(file: string, head: ChainHead, state: string): void {
  const flags = constants.O_WRONLY | constants.O_APPEND | constants.O_CREAT | constants.O_NOFOLLOW;
  const fd = openSync(file, flags, 0o600);
  try {
    writeSync(fd, `${witnessLine(head, state)}\n`);
    fsyncSync(fd);
  } finally {
    closeSync(fd);
  }
}

/** The heads of one state folder, oldest first. None when there is no such file. */
export function readWitness(file: string, state: string): readonly ChainHead[] {
  return headsIn(textOf(file), state);
}

/** How every witness writes a head down. */
export function witnessLine(head: ChainHead, state: string): string {
  return `${new Date().toISOString()} ${head.seq}:${head.mac} ${state}`;
}

/** The heads of one state folder among the lines of a witness. */
export function headsIn(text: string, state: string): readonly ChainHead[] {
  const heads: ChainHead[] = [];
  for (const line of text.split('\n')) {
    const [, seq, mac, folder] = LINE.exec(line) ?? [];
    if (seq !== undefined && mac !== undefined && folder === state) heads.push({ seq: Number(seq), mac });
  }
  return heads;
}

function textOf(file: string): string {
  try {
    return readFileSync(file, 'utf8');
  } catch (thrown) {
    if (errnoCode(thrown) === 'ENOENT') return '';
    throw thrown;
  }
}
