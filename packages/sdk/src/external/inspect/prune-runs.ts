/** Clears away old runs. One that may still be going on is never touched, and nothing behind a link. */
import { resolve } from 'node:path';
import { isToolError } from '@tool-runtime/protocol';
import type { Registry } from '../../contracts/registry.ts';
import { measureRun, type RunLocation } from '../../platform/runs/find-runs.ts';
import { removeRun } from '../../platform/runs/run-folder.ts';
import { mayBeRunning, readRun, runDirectory, runLocations, runStart, timeLimits } from './read-run.ts';

export interface PruneRunsOptions {
  readonly state: string;
  /** For the time limits of the tools. */
  readonly registry: Registry;
  readonly olderThanMs: number;
  /** The newest so many of each tool stay, whatever their age. */
  readonly keep?: number | undefined;
  /** Only runs that failed, or have no result because their runtime died. */
  readonly failedOnly?: boolean | undefined;
  /** Says what would go. */
  readonly dryRun?: boolean | undefined;
  /** Unix milliseconds. */
  readonly now?: number;
}

export interface PruneRunsReport {
  /** Relative to the state folder, oldest first. */
  readonly removed: readonly string[];
  readonly bytes: number;
  /** Old ones that may be running still. */
  readonly running: number;
  /** What could not be removed, and why. */
  readonly skipped: readonly { readonly run_dir: string; readonly reason: string }[];
}

export async function pruneRuns(options: PruneRunsOptions): Promise<PruneRunsReport> {
  const state = resolve(options.state);
  const removed: string[] = [];
  const skipped: { run_dir: string; reason: string }[] = [];
  const { chosen, running } = chooseRuns(options);
  let bytes = 0;
  for (const location of chosen) {
    const run_dir = runDirectory(state, location);
    try {
      bytes += await clear(location, options.dryRun === true ? 'measure' : 'remove');
      removed.push(run_dir);
    } catch (thrown) {
      if (!isToolError(thrown)) throw thrown;
      skipped.push({ run_dir, reason: thrown.message });
    }
  }
  return { removed, bytes, running, skipped };
}

async function clear(location: RunLocation, act: 'measure' | 'remove'): Promise<number> {
  const bytes = await measureRun(location);
  if (act === 'remove') await removeRun(location);
  return bytes;
}

interface Choice {
  /** Oldest first. */
  readonly chosen: readonly RunLocation[];
  readonly running: number;
}

function chooseRuns({
  state,
  registry,
  olderThanMs,
  keep = 0,
  failedOnly,
  now = Date.now(),
}: PruneRunsOptions): Choice {
  const limits = timeLimits(registry);
  const seen = new Map<string, number>();
  const chosen: RunLocation[] = [];
  let running = 0;
  for (const location of runLocations(state)) {
    const { tool, runId } = location;
    const newer = seen.get(tool) ?? 0;
    seen.set(tool, newer + 1);
    if (newer < keep || now - runStart(runId) <= olderThanMs) continue;
    const outcome = outcomeOf(location);
    if (outcome === 'unfinished' && mayBeRunning(location, limits, now)) running += 1;
    else if (failedOnly !== true || outcome === 'failure' || outcome === 'unfinished') chosen.unshift(location);
  }
  return { chosen, running };
}

function outcomeOf(location: RunLocation): string {
  const reading = readRun(location);
  return reading.state === 'finished' ? reading.result.status : reading.state;
}
