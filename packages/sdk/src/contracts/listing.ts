/** Asking for the names in a workspace. */

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
