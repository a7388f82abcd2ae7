/** Asking for text and for names in a workspace. */

export interface SearchQuery {
  readonly pattern: string;
  /** The pattern is plain text. */
  readonly fixed: boolean;
  readonly caseSensitive: boolean;
  readonly word: boolean;
  readonly multiline: boolean;
  /** As in a listing; none: every file. */
  readonly globs: readonly string[];
  readonly includeHidden: boolean;
  readonly includeIgnored: boolean;
  /** Lines of context on each side. */
  readonly context: number;
  /** Matching lines (the default), the first one of each file, or only how many each file has. */
  readonly report?: 'lines' | 'files' | 'counts';
  /** Of what is reported: lines or files. */
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
  /** The matching line without its newline; of a longer one `maxLineLength` characters, the match's beginning among them. */
  readonly text: string;
  readonly cut: boolean;
  readonly before: readonly string[];
  readonly after: readonly string[];
}

export interface FileCount {
  readonly file: string;
  /** Matching lines. */
  readonly count: number;
}

export interface SearchAnswer {
  /** By file and line. Empty for a report of counts. */
  readonly matches: readonly SearchMatch[];
  /** By file. Empty unless counts were asked for. */
  readonly counts: readonly FileCount[];
  /** Stopped at `maxResults`. */
  readonly truncated: boolean;
  /** Stopped by the signal: what was found so far. */
  readonly interrupted: boolean;
}

export interface ListQuery {
  /** Real globs over workspace-relative paths: `*`, `**`, `?`, `[…]`, `{a,b}`. None: everything. */
  readonly globs: readonly string[];
  readonly includeHidden: boolean;
  /** Also what `.gitignore` files and the list of vendor folders leave out. */
  readonly includeIgnored: boolean;
  /** Folders come with a trailing slash. */
  readonly includeDirectories?: boolean;
  /** Levels below the root; undefined: all. */
  readonly depth?: number;
  readonly maxResults: number;
  readonly signal?: AbortSignal;
}

export interface ListAnswer {
  /** Workspace-relative, forward slashes, sorted by code unit. */
  readonly paths: readonly string[];
  /** More matched than `maxResults`. */
  readonly truncated: boolean;
}
