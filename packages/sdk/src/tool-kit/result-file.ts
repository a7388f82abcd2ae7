/** `result.json`: built from what the run noted, written whole or not at all. */
import { randomUUID } from 'node:crypto';
import { closeSync, constants, fsyncSync, openSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Json } from './json.ts';
import type { OutputEntry } from './output-folder.ts';
import { formatTimestamp, PROTOCOL_VERSION, type RunEnvironment } from './run-environment.ts';

/** One entry of `errors` or `warnings`. */
export interface RunNote {
  readonly code: string;
  readonly message: string;
  readonly details?: Json;
}

/** Filled while the tool runs. */
export interface RunNotes {
  readonly outputs: OutputEntry[];
  readonly errors: RunNote[];
  readonly warnings: RunNote[];
}

export interface FinishedRun {
  readonly tool: { readonly name: string; readonly version: string };
  readonly environment: RunEnvironment;
  readonly notes: RunNotes;
  readonly exitCode: number;
  readonly durationMs: number;
}

const SCHEMA_VERSION = 1;
const NEW_FILE = constants.O_WRONLY | constants.O_CREAT | constants.O_EXCL | constants.O_NOFOLLOW;

export function writeResult(run: FinishedRun): void {
  const { runDir } = run.environment;
  const temporary = join(runDir, `.result-${randomUUID()}.tmp`);
  const file = openSync(temporary, NEW_FILE, 0o644);
  try {
    try {
      writeFileSync(file, `${JSON.stringify(resultOf(run), null, 2)}\n`);
      fsyncSync(file);
    } finally {
      closeSync(file);
    }
    renameSync(temporary, join(runDir, 'result.json'));
  } catch (thrown) {
    rmSync(temporary, { force: true });
    throw thrown;
  }
}

function resultOf({ tool, environment, notes, exitCode, durationMs }: FinishedRun): object {
  const { wrapper, runId, packPath, packDigest, startedAt, inputs } = environment;
  // The clock may have been set back since the wrapper looked at it.
  const completedAt = Math.max(Date.now(), Date.parse(startedAt));
  return {
    schema_version: SCHEMA_VERSION,
    wrapper,
    tool: { name: tool.name, version: tool.version, protocol_version: PROTOCOL_VERSION },
    run_id: runId,
    ...(packPath === undefined ? {} : { pack_path: packPath }),
    ...(packDigest === undefined ? {} : { pack_digest: packDigest }),
    started_at: startedAt,
    completed_at: formatTimestamp(completedAt),
    duration_ms: durationMs,
    exit_code: exitCode,
    tool_exit_code: exitCode,
    status: statusOf(notes, exitCode),
    inputs,
    ...notes,
  };
}

function statusOf({ errors, warnings }: RunNotes, exitCode: number): string {
  if (errors.length > 0 || exitCode !== 0) return 'failure';
  return warnings.length > 0 ? 'partial' : 'success';
}
