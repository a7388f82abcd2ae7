/** Checks many runs against one reading of the journal. */
import { resolve } from 'node:path';
import { isToolError } from '@tool-runtime/protocol';
import type { RunOutput } from '../../contracts/external.ts';
import type { Registry } from '../../contracts/registry.ts';
import { modeProblems, type RunLocation } from '../../platform/runs/find-runs.ts';
import { checkOutputPath } from '../../platform/runs/output-path.ts';
import type { RunFolder } from '../../platform/runs/run-folder.ts';
import { sameDigest } from '../protocol/digests.ts';
import { EXTERNAL_LIMITS, RESULT_FILE } from '../protocol/protocol-constants.ts';
import { computeStatus } from '../protocol/run-status.ts';
import { runDigest } from '../result/new-result.ts';
import {
  compareWithJournal,
  type JournalOpinion,
  type JournalReader,
  type ReadResult,
  type RunJournal,
  readRunJournal,
} from './compare-journal.ts';
import {
  mayBeRunning,
  readResult,
  runDirectory,
  runLocations,
  type TimeLimits,
  timeLimits,
  withRun,
} from './read-run.ts';

export interface VerifyRunsOptions {
  readonly state: string;
  /** All of the state folder when left out. */
  readonly runs?: readonly RunLocation[] | undefined;
  /** Of the same state folder: an open runtime. */
  readonly runtime: JournalReader & { readonly registry: Registry };
  /** Unix milliseconds. */
  readonly now?: number;
  readonly signal?: AbortSignal;
}

export interface VerifiedRun extends RunVerdict {
  readonly run_id: string;
  readonly tool: string;
  /** Relative to the state folder. */
  readonly run_dir: string;
}

/** One after the other, in the order they were given; newest first where none were. */
export async function* verifyRuns({
  state,
  runs = runLocations(state),
  runtime,
  now = Date.now(),
  signal,
}: VerifyRunsOptions): AsyncGenerator<VerifiedRun> {
  const journal = readRunJournal(runtime, new Set(runs.map(({ tool }) => tool)));
  const setting = { journal, limits: timeLimits(runtime.registry), now, signal };
  for (const location of runs) {
    const { runId, tool } = location;
    const verdict = await verifyRun(location, setting);
    yield { run_id: runId, tool, run_dir: runDirectory(resolve(state), location), ...verdict };
  }
}

interface RunVerdict {
  /** `unknown`: whole as far as it can be seen, and the journal has nothing to compare it with. */
  readonly verdict: 'ok' | 'damaged' | 'unknown' | 'running';
  readonly problems: readonly string[];
}

interface VerifySetting {
  readonly journal: RunJournal;
  readonly limits: TimeLimits;
  /** Unix milliseconds. */
  readonly now: number;
  readonly signal?: AbortSignal | undefined;
}

/** Checks one run: its folder, its result, its outputs, and what the journal has about it. */
async function verifyRun(location: RunLocation, setting: VerifySetting): Promise<RunVerdict> {
  const verdict = await withRun(location, (run) => verifyFolder(run, location, setting));
  return typeof verdict === 'string' ? damaged([verdict]) : verdict;
}

async function verifyFolder(run: RunFolder, location: RunLocation, setting: VerifySetting): Promise<RunVerdict> {
  // Before anything is read: reading opens a folder that was closed to us.
  const modes = modeProblems(run, RESULT_FILE);
  const reading = readResult(run, location);
  if (reading.state === 'damaged') return damaged([...modes, reading.problem]);
  if (reading.state === 'unfinished') {
    if (mayBeRunning(location, setting.limits, setting.now)) return { verdict: 'running', problems: [] };
    return damaged([...modes, 'result.json is missing']);
  }
  const own = [...modes, ...contentProblems(reading), ...(await outputProblems(run, reading, setting.signal))];
  return joined(own, compareWithJournal(reading, setting.journal));
}

/** What is damaged stays so, whatever the journal does not know. */
function joined(own: readonly string[], { verdict, problems }: JournalOpinion): RunVerdict {
  if (own.length > 0) return damaged([...own, ...problems]);
  return { verdict, problems };
}

function contentProblems({ result }: ReadResult): string[] {
  const { errors, warnings, exit_code: exitCode, status } = result;
  return [
    ...(sameDigest(runDigest(result), result.run_digest ?? '') ? [] : ['run_digest does not fit the result']),
    ...(computeStatus({ errors, warnings, exitCode }) === status ? [] : ['status does not fit the result']),
  ];
}

async function outputProblems(run: RunFolder, { result }: ReadResult, signal?: AbortSignal): Promise<string[]> {
  const problems: string[] = [];
  for (const output of result.outputs) {
    const problem = await outputProblem(run, output, signal);
    if (problem !== undefined) problems.push(`output ${output.path}: ${problem}`);
  }
  return problems;
}

async function outputProblem(run: RunFolder, output: RunOutput, signal?: AbortSignal): Promise<string | undefined> {
  try {
    const limits = { maxBytes: EXTERNAL_LIMITS.outputBytes, signal };
    const { digest, bytes } = await checkOutputPath(run, output.path, limits);
    // An empty file is written without its size.
    if (bytes !== (output.bytes ?? 0)) return 'size differs';
    return sameDigest(output.digest ?? '', digest) ? undefined : 'digest differs';
  } catch (thrown) {
    if (!isToolError(thrown) || thrown.code !== 'E_VALIDATION_FAIL') throw thrown;
    return String(thrown.details['reason'] ?? 'not valid');
  }
}

function damaged(problems: readonly string[]): RunVerdict {
  return { verdict: 'damaged', problems };
}
