/**
 * A parsed command line: pipelines in the order they are written, as data.
 *
 * The list is flat because `&&` and `||` bind equally and from the left; shell/next-pipeline.ts says which one runs.
 */

export type ListOperator = '&&' | '||' | ';';

export interface SimpleCommand {
  /** The program and its arguments, quotes resolved. Never empty. */
  readonly argv: readonly string[];
  /** Where the command starts in the line, from 1, in UTF-16 units. */
  readonly column: number;
}

export interface Pipeline {
  /** What connects it to the pipeline before; null for the first. */
  readonly operator: ListOperator | null;
  readonly commands: readonly SimpleCommand[];
}

export interface CommandList {
  readonly pipelines: readonly Pipeline[];
  /** Runs instead of the pipelines, in a shell inside the sandbox. */
  readonly script?: ShellScript;
}

/** A script for bash. */
export interface ShellScript {
  readonly text: string;
  /** `$1`, `$2` and so on. */
  readonly words: readonly string[];
}
