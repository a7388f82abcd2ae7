/** Every check a tool goes through, and how its outcome is reported. A check that is not listed here cannot be reported. */
import type { ProbeEnd } from '../../platform/runs/tool-probe-process.ts';

export const CHECKS = {
  'capabilities.answers': 'answers --capabilities in time, with exit code 0',
  'capabilities.size': 'the answer is not too large',
  'capabilities.json': 'the answer is one JSON object',
  'capabilities.duplicate_keys': 'no key is given twice',
  'capabilities.name': 'name is a valid name',
  'capabilities.version': 'version is given',
  'capabilities.protocol_version': 'protocol_version is supported',
  'capabilities.requires_pack': 'requires_pack is said',
  'capabilities.fields': 'the other known fields have their types',
  'capabilities.stderr': 'nothing on stderr beside the answer',
  'version.answers': 'answers --version in time, with one line and exit code 0',
  'version.matches': '--version names the version of --capabilities',
  'run.ends': 'a run comes to an end by itself',
  'run.result': 'result.json is written and valid',
  'run.facts': 'result.json is about this run, tool and wrapper',
  'run.times': 'result.json has the times of this run',
  'run.status': 'exit codes and status of result.json are true',
  'run.outputs': 'outputs are files of the run folder, with true digests and sizes',
  'run.files': 'only outputs/ and result.json are in the run folder',
  'run.stdout': 'stdout carries nothing but progress lines',
  'input.inputs': 'refuses inputs that are no JSON',
  'input.config': 'refuses a configuration that is no JSON',
  'environment.run_dir_unset': 'refuses to run without a run folder',
  'environment.run_dir_missing': 'refuses a run folder that does not exist',
  'environment.run_dir_read_only': 'fails when the run folder cannot be written',
  'environment.protocol_version': 'refuses a protocol version it does not know',
  'arguments.unknown': 'refuses an option it does not know',
  'stdin.closed': 'runs the same without standard input',
  'signal.term': 'ends when it is asked to (SIGTERM)',
  'process.left': 'leaves no process running',
  'exit_codes.range': 'exit codes are from 0 to 9',
  'writes.project': 'leaves the project as it was',
  'writes.home': 'leaves the home folder as it was',
  'secrets.shown': 'shows no secret of its environment',
} as const;
export type CheckId = keyof typeof CHECKS;

export interface ToolCheck {
  readonly id: CheckId;
  /** First part of the id. */
  readonly group: string;
  readonly title: string;
  readonly status: 'pass' | 'fail' | 'warn';
  /** What was seen. */
  readonly message: string;
  /** What to do about it; blank when there is nothing to do. */
  readonly next: string;
}

export interface ToolCheckReport {
  /** As the tool calls itself. */
  readonly name: string | undefined;
  readonly version: string | undefined;
  readonly checks: readonly ToolCheck[];
  readonly passed: number;
  readonly warned: number;
  readonly failed: number;
}

export function passed(id: CheckId, message = 'as it should be'): ToolCheck {
  return outcome(id, 'pass', { message, next: '' });
}

interface Fault {
  readonly message: string;
  readonly next: string;
}

export function failed(id: CheckId, fault: Fault): ToolCheck {
  return outcome(id, 'fail', fault);
}

export function warned(id: CheckId, fault: Fault): ToolCheck {
  return outcome(id, 'warn', fault);
}

/** Passed unless there is a fault. */
export function judged(id: CheckId, fault: Fault | undefined, message?: string): ToolCheck {
  return fault === undefined ? passed(id, message) : failed(id, fault);
}

function outcome(id: CheckId, status: ToolCheck['status'], { message, next }: Fault): ToolCheck {
  return { id, group: id.slice(0, id.indexOf('.')), title: CHECKS[id], status, message, next };
}

/** How a start of the program ended, for the report. */
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
