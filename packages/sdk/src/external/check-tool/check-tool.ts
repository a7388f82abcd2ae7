/**
 * Checks a program against the protocol of external tools, by running it.
 *
 * It runs as a plain child process of the checker, in a temporary folder and with the restricted environment of
 * a run, about fifteen times. Nothing isolates it: check programs you would also run.
 */
import { checkCapabilities } from './check-capabilities.ts';
import { checkStdin, checkTermination, checkTraces, readSurroundings } from './check-conduct.ts';
import { checkRun } from './check-run.ts';
import {
  type CheckId,
  describeEnd,
  failed,
  firstLine,
  passed,
  type ToolCheck,
  type ToolCheckReport,
  warned,
  withWords,
} from './checks.ts';
import { type CheckToolOptions, Probe, type ProbedRun, type RunRequest } from './probe.ts';

/** Throws E_VALIDATION_FAIL or E_SHELL when the program cannot be started at all. */
export async function checkTool(options: CheckToolOptions): Promise<ToolCheckReport> {
  const probe = new Probe(options);
  try {
    return await runChecks(probe);
  } finally {
    probe.close();
  }
}

async function runChecks(probe: Probe): Promise<ToolCheckReport> {
  const before = readSurroundings(probe);
  const { checks: capabilities, name, version, withPack } = await checkCapabilities(probe);
  probe.settle({ name, withPack });
  const versions = await checkVersion(probe, version);
  const { checks: good, run } = await checkRun(probe, name);
  // One that does not end would cost the whole time again, each time.
  const further = run.isOverdue ? [] : [...(await checkRefusals(probe)), await checkStdin(probe, run)];
  const termination = await checkTermination(probe, run);
  const checks = [...capabilities, ...versions, ...good, ...further, termination, ...checkTraces(probe, before)];
  const count = (status: string): number => checks.filter((check) => check.status === status).length;
  return { name, version, checks, passed: count('pass'), warned: count('warn'), failed: count('fail') };
}

async function checkVersion(probe: Probe, version: string | undefined): Promise<ToolCheck[]> {
  const end = await probe.ask('--version');
  const text = end.stdout.bytes.toString('utf8').trim();
  const next = 'print the version on one line and exit with 0';
  if (end.isOverdue || end.exitCode !== 0) return [failed('version.answers', { message: withWords(end), next })];
  if (text === '') return [failed('version.answers', { message: 'printed nothing', next })];
  if (text.includes('\n')) return [failed('version.answers', { message: 'printed more than one line', next })];
  const answered = passed('version.answers', firstLine(end.stdout.bytes));
  if (version === undefined) return [answered];
  if (text.includes(version)) return [answered, passed('version.matches', version)];
  const message = `says ${firstLine(end.stdout.bytes)}, --capabilities says ${version}`;
  return [answered, warned('version.matches', { message, next: 'keep the version in one place' })];
}

interface Refusal extends Omit<RunRequest, 'about'> {
  readonly id: CheckId;
  readonly next: string;
}

const BROKEN_JSON = '{"broken": ';
const NO_SUCH_OPTION = '--no-such-option';
const NO_SUCH_VERSION = '999';

/** What a tool must not accept. Each probe differs from a good run in one thing. */
async function checkRefusals(probe: Probe): Promise<ToolCheck[]> {
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
