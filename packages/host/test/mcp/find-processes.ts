/** Processes of this machine by a word of their command line. */
import { readdirSync, readFileSync } from 'node:fs';

export function findProcesses(word: string): readonly number[] {
  return readdirSync('/proc')
    .filter((name) => /^\d+$/.test(name))
    .filter((pid) => commandLine(pid).includes(word))
    .map(Number);
}

function commandLine(pid: string): readonly string[] {
  try {
    return readFileSync(`/proc/${pid}/cmdline`, 'utf8').split('\0');
  } catch {
    // It ended while we looked.
    return [];
  }
}
