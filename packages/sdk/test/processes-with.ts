/** Processes by a text among their words. */
import { readdirSync, readFileSync } from 'node:fs';

/** Process numbers; those that have ended and only wait to be collected have no words. */
export function processesWith(text: string): readonly number[] {
  return readdirSync('/proc')
    .map(Number)
    .filter((pid) => pid > 0 && pid !== process.pid && wordsOf(pid).includes(text));
}

function wordsOf(pid: number): string {
  try {
    return readFileSync(`/proc/${pid}/cmdline`, 'utf8');
  } catch {
    // It ended meanwhile.
    return '';
  }
}
