/** Checks one ordinary run and what it leaves. */
import { type JsonObject, toToolError } from '@tool-runtime/protocol';
import type { RunOutput, RunResult } from '../../contracts/external.ts';
import { checkOutputPath } from '../../platform/runs/output-path.ts';
import { readRunFile } from '../../platform/runs/run-result-file.ts';
import {
  changedPaths,
  type FolderContent,
  filesWithText,
  readFolderContent,
} from '../../platform/runs/tool-probe-scene.ts';
import { parseTimestamp, sameDigest } from '../protocol/digests.ts';
import { EXTERNAL_LIMITS, RESULT_FILE, RESULT_SCHEMA_VERSION } from '../protocol/protocol-constants.ts';
import { parseResult, validateResult } from '../protocol/read-result.ts';
import { computeStatus } from '../protocol/run-status.ts';
import { newWrapperInfo } from '../result/new-result.ts';
import { parseProgress } from '../run/progress-lines.ts';
import {
  type CheckId,
  describeEnd,
  failed,
  firstLine,
  judged,
  passed,
  type ToolCheck,
  warned,
  withWords,
} from './checks.ts';
import { type Probe, type ProbedRun, WRAPPER_VERSION } from './probe.ts';

export interface RunFindings {
  readonly checks: readonly ToolCheck[];
  readonly run: ProbedRun;
}

interface ResultToCheck {
  readonly probe: Probe;
  readonly run: ProbedRun;
  readonly result: RunResult;
  /** From the capabilities, when they say one. */
  readonly name: string | undefined;
}

export async function checkRun(probe: Probe, name: string | undefined): Promise<RunFindings> {
  const run = await probe.run({ about: 'a good run' });
  const checks = [judgeEnd(run), ...(await judgeResult(probe, run, name)), judgeFiles(run), judgeStdout(run)];
  return { run, checks };
}

function judgeEnd(run: ProbedRun): ToolCheck {
  const end = describeEnd(run);
  if (run.isOverdue || run.exitCode === null)
    return failed('run.ends', { message: end, next: 'exit with a code from 0 to 9' });
  if (run.exitCode === 0) return passed('run.ends', end);
  const next = 'if it needs inputs, a configuration or a pack, give them to the check';
  return warned('run.ends', { message: withWords(run), next });
}

async function judgeResult(probe: Probe, run: ProbedRun, name: string | undefined): Promise<ToolCheck[]> {
  const file = readRunFile(run.folder, RESULT_FILE, EXTERNAL_LIMITS.resultBytes);
  if (file === 'missing') {
    const next = 'write it; without it the wrapper writes one and the run is at best partial';
    return [warned('run.result', { message: 'no result.json', next })];
  }
  const next = 'write a regular file with every required field, as docs/external-tools.md lists them';
  if (typeof file === 'string') return [failed('run.result', { message: `result.json is ${file}`, next })];
  try {
    const claimed = parseResult(file) as JsonObject;
    const result = validateResult(claimed);
    return [passed('run.result', `status ${result.status}`), ...(await checkResult({ probe, run, result, name }))];
  } catch (thrown) {
    return [failed('run.result', { message: toToolError(thrown).message, next })];
  }
}

function judgeFiles({ folder }: ProbedRun): ToolCheck {
  const paths = [...readFolderContent(folder.path)]
    .filter(([path, kind]) => !isExpected(path, kind))
    .map(([path]) => path);
  const fault = {
    message: `also there: ${paths.slice(0, 3).join(', ')}`,
    next: 'write below outputs/, and scratch files below TMPDIR',
  };
  return judged('run.files', paths.length === 0 ? undefined : fault, 'nothing else');
}

function isExpected(path: string, kind: string): boolean {
  if (path === RESULT_FILE) return true;
  return path === 'outputs' ? kind === 'folder' : path.startsWith('outputs/');
}

function judgeStdout({ stdout }: ProbedRun): ToolCheck {
  const lines = stdout.bytes.toString('utf8').split('\n');
  const noise = lines.find((line) => line !== '' && parseProgress(line) === undefined);
  if (noise === undefined) return passed('run.stdout', stdout.total === 0 ? 'stdout is empty' : 'progress lines');
  const next = 'put output into files; stdout is for progress, one JSON object per line';
  return warned('run.stdout', { message: `not a progress line: ${firstLine(Buffer.from(noise))}`, next });
}

/** Whether a valid `result.json` matches the run in whose folder it is. */
async function checkResult(subject: ResultToCheck): Promise<ToolCheck[]> {
  return [judgeFacts(subject), judgeTimes(subject), judgeStatus(subject), await judgeOutputs(subject)];
}

/** The first field that differs. */
function firstDifference(fields: readonly (readonly [string, unknown, unknown])[]) {
  const wrong = fields.find(([, found, expected]) => found !== expected);
  if (wrong === undefined) return undefined;
  const [field, found, expected] = wrong;
  return `${field} is ${JSON.stringify(found)}, not ${JSON.stringify(expected)}`;
}

function judgeFacts({ probe, run, result, name }: ResultToCheck): ToolCheck {
  const wrapper = newWrapperInfo(probe.profile, WRAPPER_VERSION);
  const message = firstDifference([
    ['schema_version', result.schema_version, RESULT_SCHEMA_VERSION],
    ['run_id', result.run_id, run.folder.runId],
    ...(name === undefined ? [] : [['tool.name', result.tool.name, name] as const]),
    ['wrapper.name', result.wrapper.name, wrapper.name],
    ['wrapper.version', result.wrapper.version, wrapper.version],
  ]);
  const next = 'copy what the environment says; the wrapper treats a result of another run as invalid';
  return judged('run.facts', message === undefined ? undefined : { message, next }, 'as given');
}

function judgeTimes({ run, result }: ResultToCheck): ToolCheck {
  const completed = parseTimestamp(result.completed_at);
  const message =
    firstDifference([['started_at', result.started_at, run.startedAt]]) ??
    (completed < parseTimestamp(run.startedAt) ? 'completed_at is before started_at' : undefined) ??
    (completed > Date.now() ? 'completed_at is in the future' : undefined) ??
    (result.duration_ms < 0 ? 'duration_ms is negative' : undefined);
  const next = 'started_at comes from the environment, completed_at from the clock, in UTC';
  return judged('run.times', message === undefined ? undefined : { message, next }, `${result.started_at} on`);
}

function judgeStatus({ run, result }: ResultToCheck): ToolCheck {
  const { errors, warnings } = result;
  const exitCode = run.exitCode ?? result.exit_code;
  const message = firstDifference([
    ['exit_code', result.exit_code, exitCode],
    ['tool_exit_code', result.tool_exit_code, exitCode],
    ['status', result.status, computeStatus({ errors, warnings, exitCode })],
  ]);
  const next = 'failure with errors or a code other than 0, partial with warnings, else success';
  return judged('run.status', message === undefined ? undefined : { message, next }, result.status);
}

async function judgeOutputs(subject: ResultToCheck): Promise<ToolCheck> {
  const { outputs } = subject.result;
  for (const output of outputs) {
    const message = await outputFault(subject, output);
    const next = 'list regular files by their path relative to the run folder; digest is sha256: and lower-case hex';
    if (message !== undefined) return judged('run.outputs', { message: `${output.path}: ${message}`, next });
  }
  return judged('run.outputs', undefined, `${outputs.length} listed`);
}

async function outputFault({ run }: ResultToCheck, output: RunOutput): Promise<string | undefined> {
  try {
    const { bytes, digest } = await checkOutputPath(run.folder, output.path);
    if (output.digest && !sameDigest(digest, output.digest)) return 'the digest is another';
    if (output.bytes !== undefined && output.bytes !== bytes) return `has ${bytes} bytes, not ${output.bytes}`;
    return undefined;
  } catch (thrown) {
    const { code, message, details } = toToolError(thrown);
    if (code !== 'E_VALIDATION_FAIL') throw thrown;
    return String(details['reason'] ?? message);
  }
}

/** How a tool behaves as a process: without input, when asked to end, and over all starts together. */
export async function checkStdin(probe: Probe, good: ProbedRun): Promise<ToolCheck> {
  const run = await probe.run({ about: 'a run without standard input', stdin: 'closed' });
  const isSame = !run.isOverdue && run.exitCode === good.exitCode && run.endedBy === good.endedBy;
  const fault = { message: describeEnd(run), next: 'do not read standard input' };
  return judged('stdin.closed', isSame ? undefined : fault, describeEnd(run));
}

const EARLIEST_MS = 20;
const LATEST_MS = 1000;

/** Asked in the middle of a run, as far as the good one tells where that is. */
export async function checkTermination(probe: Probe, good: ProbedRun): Promise<ToolCheck> {
  const terminateAfterMs = Math.min(Math.max(good.durationMs / 2, EARLIEST_MS), LATEST_MS);
  const run = await probe.run({ about: 'a run that is asked to end', terminateAfterMs });
  if (run.isOverdue) {
    const message = `still ran ${probe.limits.terminateMs} ms after SIGTERM`;
    return failed('signal.term', { message, next: 'end on SIGTERM; what does not is killed and loses its result' });
  }
  // By the signal, by itself on being asked, or a moment before: which one is chance.
  return passed('signal.term', 'ended in time');
}

interface Surroundings {
  readonly project: FolderContent;
  readonly home: FolderContent;
}

export function readSurroundings({ scene }: Probe): Surroundings {
  return { project: readFolderContent(scene.project), home: readFolderContent(scene.home) };
}

/** What only all starts together show. */
export function checkTraces(probe: Probe, before: Surroundings): ToolCheck[] {
  const after = readSurroundings(probe);
  return [
    judgeLeft(probe),
    judgeExitCodes(probe),
    judgeChanges('writes.project', before.project, after.project),
    judgeChanges('writes.home', before.home, after.home),
    judgeSecrets(probe),
  ];
}

function judgeLeft({ ends }: Probe): ToolCheck {
  const left = ends.find(({ leftRunning }) => leftRunning.length > 0);
  const next = 'wait for every process that was started, or end it';
  const fault = left && { message: `${left.about}: ${left.leftRunning.join(', ')} still ran`, next };
  return judged('process.left', fault, `none after ${ends.length} starts`);
}

function judgeExitCodes({ ends }: Probe): ToolCheck {
  const outside = ends.find(({ exitCode }) => exitCode !== null && exitCode > 9);
  const next = "10 to 19 are the wrapper's; everything above 9 is reported as 1";
  const fault = outside && { message: `${outside.about}: exit code ${outside.exitCode}`, next };
  const seen = [...new Set(ends.map(({ exitCode }) => exitCode))].filter((code) => code !== null).sort();
  return judged('exit_codes.range', fault, `seen: ${seen.join(', ')}`);
}

function judgeChanges(id: CheckId, before: FolderContent, after: FolderContent): ToolCheck {
  const paths = changedPaths(before, after);
  const fault = { message: `changed: ${paths.slice(0, 3).join(', ')}`, next: 'write below outputs/ of the run folder' };
  return judged(id, paths.length === 0 ? undefined : fault, 'unchanged');
}

function judgeSecrets({ ends, folders, secret }: Probe): ToolCheck {
  const next = 'print and keep only the variables that are needed';
  const shown = ends.find(({ stdout, stderr }) => stdout.bytes.includes(secret) || stderr.bytes.includes(secret));
  if (shown !== undefined)
    return failed('secrets.shown', { message: `${shown.about}: printed a variable that is not its own`, next });
  const [file] = folders.flatMap(({ path }) => filesWithText(path, secret));
  const fault =
    file === undefined ? undefined : { message: `a variable that is not its own was found in ${file}`, next };
  return judged('secrets.shown', fault, 'neither printed nor kept');
}
