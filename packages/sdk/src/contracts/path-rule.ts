/**
 * The path rules of one call, as the file layer sees them: it asks at the moment a path is used, with the place the held
 * directory really has. Paths and places are relative to the root of the outermost workspace.
 */

/** A deletion is a write too. */
export type PathAccess = 'read' | 'write' | 'delete';

/** What a link in the last place stands for. */
export type LinkUse = 'through' | 'themselves';

export interface PathUse {
  /** As the tool spelled it. */
  readonly path: string;
  /** Where it really is, links resolved; `.` is the root. */
  readonly location: string;
  readonly access: PathAccess;
}

export interface PathRule {
  /** Throws E_POLICY when the call may not use this path. */
  check(use: PathUse): void;
}

/** Where a path leads, looked up by descriptor. */
export interface FoundPath extends Pick<PathUse, 'path' | 'location'> {
  readonly isFolder: boolean;
}
