/**
 * What earlier runs left behind, as far as a dependency check has to know it.
 *
 * Names are single path parts; an implementation follows no link and answers "nothing" for what it cannot reach.
 */

/** A file of a run folder: its bytes, or why there are none. */
export type RunFile = Uint8Array | 'missing' | 'too_large' | 'unreadable';

export interface RunHistory {
  /** Run ids of a tool, newest first. */
  runsOf(tool: string): readonly string[];
  readResult(tool: string, runId: string): RunFile;
  /** Whether a regular file lies at these parts below the folder of all tools. */
  hasOutput(parts: readonly string[]): boolean;
}
