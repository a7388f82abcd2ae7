/** Proves many runs against one reading of the journal. */
import { resolve } from 'node:path';
import type { Registry } from '../../contracts/registry.ts';
import type { RunLocation } from '../../platform/runs/find-runs.ts';
import { runLocations } from './list-runs.ts';
import { runDirectory } from './read-run.ts';
import { timeLimits } from './run-age.ts';
import { type JournalReader, readRunJournal } from './run-journal.ts';
import { type RunVerdict, verifyRun } from './verify-run.ts';

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
