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

/** A script for bash, with what can be known of it before it runs. */
export interface ShellScript {
  readonly text: string;
  /** `$1`, `$2` and so on. */
  readonly words: readonly string[];
  readonly seen: readonly SeenCommand[];
  readonly unseen: readonly UnseenPart[];
}

export interface SeenCommand {
  /** The program and its arguments, quotes resolved; what is computed when it runs is as written. */
  readonly argv: readonly string[];
  /** What patterns are matched against. */
  readonly text: string;
  readonly column: number;
  /** Part of the shell, or does nothing but start commands that are seen too. */
  readonly isTransparent: boolean;
  /** The command that starts this one. */
  readonly outer: SeenCommand | undefined;
}

/** A part of a script that only running it can show. */
export interface UnseenPart {
  /**
   * `eval`: a computed text is run. `computed_name`: a computed program. `script`: a file of commands. `input`: commands
   * from standard input. `alias`: a name that means something else from here on. `syntax`: not read by our grammar.
   */
  readonly reason: 'eval' | 'computed_name' | 'script' | 'input' | 'alias' | 'syntax';
  readonly text: string;
  readonly column: number;
  /** The seen command it belongs to. */
  readonly command: SeenCommand | undefined;
}
