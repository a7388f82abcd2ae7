/** What the runner must know about an analyzer to run it. */
import type { AnalyzerFormat } from '../parse-analysis.ts';

/** Workspace-relative paths, safe among options. */
export interface AnalyzerTarget {
  /** Files and folders; none means the whole workspace. */
  readonly paths: readonly string[];
  /** The analyzer's configuration or rules. */
  readonly config: string | undefined;
}

export interface AnalyzerProvider {
  readonly name: string;
  readonly format: AnalyzerFormat;
  /** Exit codes after which the output is worth reading: nothing found, or something found. */
  readonly goodCodes: readonly number[];
  /** How to install it, for a caller that does not have it. */
  readonly install: string;
  /** Finds its rules only when told where they are: what to give. */
  readonly configHint?: string;
  readonly timeoutMs?: number;
  command(target: AnalyzerTarget): readonly string[];
}

export function pathsOrAll({ paths }: AnalyzerTarget): readonly string[] {
  return paths.length === 0 ? ['.'] : paths;
}

/** Nothing when there is no configuration, so that the analyzer looks for its own. */
export function configOption(option: string, { config }: AnalyzerTarget): readonly string[] {
  return config === undefined ? [] : [option, config];
}
