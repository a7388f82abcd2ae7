/** Asking for text in a workspace. */

export interface SearchQuery {
  readonly pattern: string;
  /** The pattern is plain text. */
  readonly fixed: boolean;
  readonly caseSensitive: boolean;
  readonly word: boolean;
  readonly multiline: boolean;
  readonly globs: readonly string[];
  readonly includeHidden: boolean;
  readonly includeIgnored: boolean;
  /** Lines of context on each side. */
  readonly context: number;
  readonly maxResults: number;
  /** Characters of a line to hand back. */
  readonly maxLineLength: number;
  readonly signal?: AbortSignal;
}

export interface SearchMatch {
  readonly file: string;
  /** From 1. */
  readonly line: number;
  /** From 1, in characters (Unicode code points), not bytes. */
  readonly column: number;
  /** The matching line without its newline, cut at `maxLineLength`. */
  readonly text: string;
  readonly cut: boolean;
  readonly before: readonly string[];
  readonly after: readonly string[];
}

export interface SearchAnswer {
  readonly matches: readonly SearchMatch[];
  /** Stopped at `maxResults`. */
  readonly truncated: boolean;
  /** Stopped by the signal: what was found so far. */
  readonly interrupted: boolean;
}
