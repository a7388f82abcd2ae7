/** How a start of the program ended, in the words of a report. */
import type { ProbeEnd } from '../../platform/runs/tool-probe-process.ts';

export function describeEnd({ isOverdue, exitCode, endedBy }: ProbeEnd): string {
  if (isOverdue) return 'did not end in time and was killed';
  return exitCode === null ? `was ended by ${endedBy}` : `exit code ${exitCode}`;
}

/** The same, with what the program said about it. */
export function withWords(end: ProbeEnd): string {
  const words = firstLine(end.stderr.bytes);
  return words === '' ? describeEnd(end) : `${describeEnd(end)}: ${words}`;
}

const SHOWN_CHARACTERS = 80;

/** The first line of what a program wrote, cut. */
export function firstLine(bytes: Buffer): string {
  const [line = ''] = bytes.toString('utf8').trim().split('\n');
  return line.length > SHOWN_CHARACTERS ? `${line.slice(0, SHOWN_CHARACTERS)}…` : line;
}
