/** A run in its folder: its age, its outputs, and its result or why that is missing or invalid. */
import { relative, resolve } from 'node:path';
import { isJsonObject, isToolError, type JsonObject, ToolError } from '@tool-runtime/protocol';
import { isRunId, type RunFile, type RunOutput, type RunResult, type RunStatus } from '../../contracts/external.ts';
import type { Registry } from '../../contracts/registry.ts';
import type { MaybePromise } from '../../contracts/workspace.ts';
import { findRuns, type RunLocation } from '../../platform/runs/find-runs.ts';
import { passOutput } from '../../platform/runs/output-path.ts';
import { openRunFolder, type RunFolder } from '../../platform/runs/run-folder.ts';
import { readRunFile } from '../../platform/runs/run-result-file.ts';
import { EXTERNAL_LIMITS, RESULT_FILE } from '../protocol/protocol-constants.ts';
import { parseResult, validateResult } from '../protocol/read-result.ts';
import { runsFolder } from '../run/external-ports.ts';

export type RunReading =
  | { readonly state: 'finished'; readonly result: RunResult & JsonObject; readonly bytes: Uint8Array }
  /** Without a result: it is running, or its runtime died. */
  | { readonly state: 'unfinished' }
  | { readonly state: 'damaged'; readonly problem: string };

/** The longest run, for tools that the registry no longer lists. */
const LONGEST_MS = 86_400_000;
/** Between the end of a tool and its result: outputs are hashed, processes ended. */
const SETTLING_MS = 60_000;

/** Relative to the state folder. */
export function runDirectory(state: string, { base, withPack, tool, runId }: RunLocation): string {
  return relative(state, `${base}/${withPack ? 'tools' : 'runs'}/${tool}/${runId}`);
}

export function readRun(location: RunLocation): RunReading {
  const answer = withRun(location, (run) => readResult(run, location));
  return typeof answer === 'string' ? { state: 'damaged', problem: answer } : answer;
}

/** Returns what `use` returns, or a text that says why the folder cannot be opened. The folder is closed afterwards. */
export function withRun<Answer>(location: RunLocation, use: (run: RunFolder) => Answer): Answer | string {
  if (!location.isFolder) return 'run folder is a link or no folder';
  let run: RunFolder | undefined;
  try {
    run = openRunFolder(location);
  } catch (thrown) {
    if (!isToolError(thrown)) throw thrown;
    return thrown.message;
  }
  if (run === undefined) return 'run folder is gone';
  const { close } = run;
  return closedAfter(() => use(run), close);
}

function closedAfter<Answer>(act: () => Answer, close: () => void): Answer {
  let answer: Answer;
  try {
    answer = act();
  } catch (thrown) {
    close();
    throw thrown;
  }
  if (answer instanceof Promise) return answer.finally(close) as Answer;
  close();
  return answer;
}

/** It must be about the run and the tool its folder is named for. */
export function readResult(run: RunFolder, { tool, runId }: RunLocation): RunReading {
  const file = readRunFile(run, RESULT_FILE, EXTERNAL_LIMITS.resultBytes);
  if (file === 'missing') return { state: 'unfinished' };
  if (typeof file === 'string') return damaged(FILE_PROBLEMS[file]);
  try {
    const result = validateResult(parseResult(file));
    if (result.run_id !== runId) return damaged('result.json is about another run');
    if (result.tool.name !== tool) return damaged('result.json is about another tool');
    return { state: 'finished', result, bytes: file };
  } catch (thrown) {
    if (!isToolError(thrown)) throw thrown;
    return damaged(`result.json: ${thrown.message}`);
  }
}

const FILE_PROBLEMS: Readonly<Record<Extract<RunFile, string>, string>> = {
  missing: 'result.json is missing',
  too_large: 'result.json is too large',
  unreadable: 'result.json is a link, has a second name or is no readable file',
};

function damaged(problem: string): RunReading {
  return { state: 'damaged', problem };
}

/** One run for people: its result, or the bytes of one of its outputs. Throws E_FILE_IO for a run that has none. */
export function showRun(location: RunLocation): RunResult & JsonObject {
  const reading = readRun(location);
  if (reading.state === 'finished') return reading.result;
  const why = reading.state === 'unfinished' ? 'result.json is missing' : reading.problem;
  throw unreadable(location, why);
}

/** Only what the result lists, and only the bytes that were recorded; see `passOutput` for what it throws. */
export async function showRunOutput(
  location: RunLocation,
  path: string,
  take: (piece: Uint8Array) => MaybePromise<void>,
): Promise<void> {
  const output = showRun(location).outputs.find((listed) => listed.path === path);
  if (output?.digest === undefined) {
    throw new ToolError('E_FILE_IO', `Run has no such output: ${path.slice(0, 200)}`, {
      path: 'output',
      details: { reason: 'not_listed', next: 'name one of the outputs that runs show lists' },
    });
  }
  const recorded = { path, digest: output.digest };
  const problem = await withRun(location, (run) => passOutput(run, recorded, take));
  if (typeof problem === 'string') throw unreadable(location, problem);
}

function unreadable({ tool, runId }: RunLocation, why: string): ToolError {
  return new ToolError('E_FILE_IO', `Run cannot be read: ${tool}/${runId} (${why})`, {
    details: { reason: 'damaged_run', next: 'run: tool-runtime runs verify' },
  });
}

/** When a run began, in Unix milliseconds, by its id: the tool can set file times. */
export function runStart(runId: string): number {
  const [date = '', time = ''] = runId.split('T');
  const [hours, minutes, seconds, micros = ''] = time.split('-');
  return Date.parse(`${date}T${hours}:${minutes}:${seconds}.${micros.slice(0, 3)}Z`);
}

export type TimeLimits = (tool: string) => number;

/** The longest a run of a tool may take. */
export function timeLimits({ externalTools, tools }: Pick<Registry, 'externalTools' | 'tools'>): TimeLimits {
  return (name) => {
    const own = externalTools.find((tool) => tool.name === name)?.timeout_ms ?? LONGEST_MS;
    const { timeout_ms: usual = own, max_timeout_ms: most = usual } = tools.get(name) ?? {};
    return Math.max(own, usual, most) + SETTLING_MS;
  };
}

/** For a run without a result: whether it may still be running. */
export function mayBeRunning(
  { tool, runId }: { readonly tool: string; readonly runId: string },
  limits: TimeLimits,
  now: number,
): boolean {
  return now - runStart(runId) < limits(tool);
}

export interface RunSummary {
  readonly run_id: string;
  readonly tool: string;
  /** Relative to the state folder. */
  readonly run_dir: string;
  /** `unfinished`: it has no result; it is running, or its runtime died. */
  readonly status: RunStatus | 'damaged' | 'unfinished';
  readonly exit_code?: number;
  readonly tool_exit_code?: number | null;
  readonly started_at?: string;
  readonly duration_ms?: number;
  readonly outputs?: readonly RunOutput[];
  /** What is damaged. */
  readonly problem?: string;
}

/** Others may run the same tool meanwhile. */
const NEWEST = 50;

export interface RunFilter {
  readonly tool?: string | undefined;
  /** Only those that did not end well; the damaged are among them. */
  readonly failed?: boolean;
}

/**
 * The runs of a state folder, each in a few words. Damaged ones are listed as such, never left out.
 *
 * Newest first; read one by one, as they are asked for.
 */
export function* listRuns(state: string, { tool, failed = false }: RunFilter = {}): Generator<RunSummary> {
  for (const location of runLocations(state)) {
    if (tool !== undefined && location.tool !== tool) continue;
    const summary = summarize(state, location);
    if (!failed || (summary.status !== 'success' && summary.status !== 'partial')) yield summary;
  }
}

/** Newest first. */
export function runLocations(state: string): RunLocation[] {
  return findRuns(runsFolder(resolve(state), undefined));
}

/** `<run id>` or `<tool>/<run id>`: ids are unique within a tool, and nearly always beyond. */
export function findRunLocations(state: string, name: string): RunLocation[] {
  const [runId = '', tool] = name.split('/').reverse();
  if (!isRunId(runId)) return [];
  return runLocations(state).filter((run) => run.runId === runId && (tool === undefined || run.tool === tool));
}

/** The run that a call became; looked for among the newest of its tool. */
export function findRunOfCall(state: string, tool: string, callId: string): RunSummary | undefined {
  const newest = runLocations(state)
    .filter((run) => run.tool === tool)
    .slice(0, NEWEST);
  const found = newest.find((location) => {
    const reading = readRun(location);
    const call = reading.state === 'finished' ? reading.result['call'] : undefined;
    return isJsonObject(call) && call['call_id'] === callId;
  });
  return found === undefined ? undefined : summarize(state, found);
}

function summarize(state: string, location: RunLocation): RunSummary {
  const reading = readRun(location);
  const { runId, tool } = location;
  const place = { run_id: runId, tool, run_dir: runDirectory(resolve(state), location) };
  if (reading.state === 'damaged') return { ...place, status: 'damaged', problem: reading.problem };
  if (reading.state === 'unfinished') return { ...place, status: 'unfinished' };
  const { status, exit_code, tool_exit_code, started_at, duration_ms, outputs } = reading.result;
  return { ...place, status, exit_code, tool_exit_code, started_at, duration_ms, outputs };
}
