/** The runs of a state folder, each in a few words. Damaged ones are listed as such, never left out. */
import { resolve } from 'node:path';
import { isJsonObject } from '@tool-runtime/protocol';
import type { RunOutput, RunStatus } from '../../contracts/external.ts';
import { isRunId } from '../../contracts/external.ts';
import { findRuns, type RunLocation } from '../../platform/runs/find-runs.ts';
import { runsFolder } from '../run/external-ports.ts';
import { readRun, runDirectory } from './read-run.ts';

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

/** Newest first; read one by one, as they are asked for. */
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
