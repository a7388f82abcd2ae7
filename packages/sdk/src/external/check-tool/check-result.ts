/** Whether a valid `result.json` tells the truth about the run it lies in. */
import { toToolError } from '@tool-runtime/protocol';
import type { RunOutput, RunResult } from '../../contracts/external.ts';
import { checkOutputPath } from '../../platform/runs/output-path.ts';
import { sameDigest } from '../protocol/digests.ts';
import { RESULT_SCHEMA_VERSION } from '../protocol/protocol-constants.ts';
import { computeStatus } from '../protocol/run-status.ts';
import { parseTimestamp } from '../protocol/timestamps.ts';
import { newWrapperInfo } from '../result/new-result.ts';
import { judged, type ToolCheck } from './checks.ts';
import { type Probe, type ProbedRun, WRAPPER_VERSION } from './probe.ts';

export interface ResultToCheck {
  readonly probe: Probe;
  readonly run: ProbedRun;
  readonly result: RunResult;
  /** From the capabilities, when they say one. */
  readonly name: string | undefined;
}

export async function checkResult(subject: ResultToCheck): Promise<ToolCheck[]> {
  return [judgeFacts(subject), judgeTimes(subject), judgeStatus(subject), await judgeOutputs(subject)];
}

/** First field that says something else than expected. */
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
