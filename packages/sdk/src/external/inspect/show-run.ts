/** One run for people: its result, or the bytes of one of its outputs. */
import { type JsonObject, ToolError } from '@tool-runtime/protocol';
import type { RunResult } from '../../contracts/external.ts';
import type { MaybePromise } from '../../contracts/workspace.ts';
import type { RunLocation } from '../../platform/runs/find-runs.ts';
import { passOutput } from '../../platform/runs/output-path.ts';
import { readRun, withRun } from './read-run.ts';

/** Throws E_FILE_IO for a run that has none. */
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
