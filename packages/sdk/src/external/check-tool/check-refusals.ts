/** What a tool must not accept. Each probe differs from a good run in one thing. */
import { type CheckId, failed, passed, type ToolCheck, warned } from './checks.ts';
import { describeEnd, withWords } from './describe-end.ts';
import type { Probe, ProbedRun, RunRequest } from './probe.ts';

interface Refusal extends Omit<RunRequest, 'about'> {
  readonly id: CheckId;
  readonly next: string;
}

const BROKEN_JSON = '{"broken": ';
const NO_SUCH_OPTION = '--no-such-option';
const NO_SUCH_VERSION = '999';

export async function checkRefusals(probe: Probe): Promise<ToolCheck[]> {
  const checks: ToolCheck[] = [];
  for (const { id, next, ...request } of refusalsOf(probe)) {
    checks.push(judgeRefusal(id, await probe.run({ about: id, ...request }), next));
  }
  return checks;
}

function refusalsOf({ profile, scene }: Probe): Refusal[] {
  const config = scene.write('broken.json', BROKEN_JSON);
  const nowhere = `${scene.root}/nowhere`;
  return [
    ...(profile === 'neutral' ? [{ id: 'input.inputs', change: { INPUTS: BROKEN_JSON }, next: REFUSE } as const] : []),
    { id: 'input.config', change: { CONFIG: config }, next: REFUSE },
    { id: 'environment.run_dir_unset', change: { RUN_DIR: undefined }, next: REFUSE },
    {
      id: 'environment.run_dir_missing',
      change: { RUN_DIR: nowhere },
      next: 'do not make the run folder: it is given',
    },
    ...(scene.readOnly === undefined
      ? []
      : [{ id: 'environment.run_dir_read_only', change: { RUN_DIR: scene.readOnly }, next: REFUSE } as const]),
    { id: 'environment.protocol_version', change: { PROTOCOL_VERSION: NO_SUCH_VERSION }, next: REFUSE },
    { id: 'arguments.unknown', extraWords: [NO_SUCH_OPTION], next: REFUSE },
  ];
}

const REFUSE = 'say what is wrong on stderr and exit with a code from 1 to 9, 2 being usual';

function judgeRefusal(id: CheckId, end: ProbedRun, next: string): ToolCheck {
  if (end.isOverdue || end.exitCode === null) return failed(id, { message: describeEnd(end), next });
  if (end.exitCode === 0) {
    const fault = { message: 'was accepted, exit code 0', next };
    // Some tools hand their words on to another program and cannot know.
    return id === 'arguments.unknown' ? warned(id, fault) : failed(id, fault);
  }
  if (end.stderr.total === 0) return failed(id, { message: `${describeEnd(end)}, and not a word on stderr`, next });
  return passed(id, withWords(end));
}
