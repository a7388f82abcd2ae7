/** The port of the build: says whether the workspace, as it is on disk, builds. */

export interface BuildReport {
  readonly ok: boolean;
  /** For people: the command, or a description of it. */
  readonly command: string;
  /** End of what it printed. */
  readonly output: string;
}

export interface BuildRequest {
  readonly paths: readonly string[];
  readonly signal?: AbortSignal | undefined;
}

export interface BuildCheck {
  /** `paths` are what an edit touches. Undefined: nothing builds these. Throws when the build cannot be run at all. */
  check(request: BuildRequest): Promise<BuildReport | undefined>;
}
