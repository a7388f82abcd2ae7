/** What `init` learns about a workspace by reading it, and the only way it may read. */

/** Paths are relative to the workspace root, with forward slashes; '' is the root. Nothing throws. */
export interface ProjectReader {
  read(path: string): string | undefined;
  exists(path: string): boolean;
  /** Names of what lies in a folder; empty when there is no such folder. */
  list(path: string): readonly string[];
}

export interface ProjectCommands {
  readonly build?: string;
  readonly test?: string;
  readonly lint?: string;
  /** Only checks the format, never rewrites. */
  readonly fmt?: string;
}

export interface DetectedProject {
  /** The first is the main one. */
  readonly languages: readonly string[];
  readonly packageManager?: string;
  readonly commands: ProjectCommands;
  /** Undefined: not a git work tree. */
  readonly git?: { readonly defaultBranch?: string };
  readonly testGlobs: readonly string[];
  /** Patterns that allow the commands above and the scripts of the project, each from `^` to `$`. */
  readonly shellAllow: readonly string[];
  /** Commands of the project that take arguments: `npm run lint`, `make check`. */
  readonly scripts: readonly string[];
}

/** A folder that may hold a project of its own. */
export interface FolderView {
  /** From the root; '' for the root itself. */
  readonly folder: string;
  read(name: string): string | undefined;
  exists(name: string): boolean;
  list(name?: string): readonly string[];
}

export interface EcosystemFacts {
  readonly languages: readonly string[];
  readonly packageManager?: string;
  /** As run from the workspace root. */
  readonly commands: ProjectCommands;
  readonly testGlobs: readonly string[];
  /** Commands that take arguments, as run from the workspace root. */
  readonly scripts?: readonly string[];
}

export interface Ecosystem {
  readonly name: string;
  /** Its commands count only where no other ecosystem has one: they usually wrap those. */
  readonly fillsGaps?: boolean;
  detect(view: FolderView): EcosystemFacts | undefined;
}
