/**
 * What one call did to files, or would do: each path with what was there before and what is there after.
 *
 * A change set holds digests, modes and links; the bytes are in the store, by digest. Paths are relative to the root of the
 * workspace, with forward slashes and no links on the way, in the text form of `path-name.ts`.
 */

export type PathState =
  | { readonly kind: 'file'; readonly digest: string; readonly size: number; readonly mode: number }
  | { readonly kind: 'link'; readonly target: string }
  | { readonly kind: 'folder'; readonly mode: number }
  | { readonly kind: 'absent' };

export interface PathChange {
  readonly path: string;
  readonly before: PathState;
  readonly after: PathState;
}

export type ChangeStatus = 'applied' | 'pending' | 'discarded' | 'undone';

export interface ChangeSet {
  readonly change_id: string;
  readonly call_id: string;
  readonly session_id: string;
  readonly actor: string;
  readonly tool: string;
  /** Milliseconds since 1970. */
  readonly at: number;
  readonly status: ChangeStatus;
  /** Of a git verb: the point that git_recover goes back to. */
  readonly recovery?: string;
  readonly paths: readonly PathChange[];
}

/** A change that is about to be made. `source` has the content of a file whose `after` is one, or is the folder to be moved. */
export interface StagedChange extends PathChange {
  readonly source?: ContentSource;
}

/**
 * Bytes, or the absolute path of a file that is read without following a link. With `stamp` the file itself may be moved to its
 * place, as long as it is what the stamp says. A folder with a `stamp` holds exactly what is staged below it and may be moved with
 * all of that.
 */
export type ContentSource = { readonly bytes: Uint8Array } | { readonly file: string; readonly stamp?: string };

export interface ChangeFilter {
  readonly session_id?: string;
  readonly status?: ChangeStatus;
  /** At most so many, newest first. */
  readonly limit?: number;
}

/** Change sets as one call uses them. What it keeps is stored with the set that it puts, and is dropped when it puts none. */
export interface CallStore {
  /** Keeps content by its digest; what may not be kept is not, and the answer is false. */
  keepBytes(digest: string, bytes: Uint8Array): boolean;
  /** The same for a file that need not be in memory: an absolute path, read without following a link. */
  keepFile(digest: string, file: string): Promise<boolean>;
  /** Undefined when it is not kept, or no longer what the digest says. */
  bytes(digest: string): Uint8Array | undefined;
  put(set: ChangeSet): void;
  get(change_id: string): ChangeSet | undefined;
  list(filter?: ChangeFilter): readonly ChangeSet[];
  setStatus(change_id: string, status: ChangeStatus): void;
}

export interface ChangeStore {
  /** `mayKeep`: whether content may be kept at all. */
  forCall(mayKeep?: (bytes: Uint8Array) => boolean): CallStore;
  bytes(digest: string): Uint8Array | undefined;
  put(set: ChangeSet, contents?: ReadonlyMap<string, Uint8Array>): void;
  get(change_id: string): ChangeSet | undefined;
  list(filter?: ChangeFilter): readonly ChangeSet[];
  setStatus(change_id: string, status: ChangeStatus): void;
  prune(bounds: { readonly beforeMs?: number; readonly maxBytes?: number }): { readonly removed: number };
  close(): void;
}

/** What is at a name and below it. */
export interface Capture {
  /** Where the name really is, in the form of the paths of a change set. */
  readonly location: string;
  /** False when there was more than may be captured; then `states` has the name alone. */
  readonly isWhole: boolean;
  readonly states: ReadonlyMap<string, PathState>;
}

/** The path rules of a call; `PathRule` of the contracts. */
export interface UseRule {
  check(use: { readonly path: string; readonly location: string; readonly access: 'read' | 'write' | 'delete' }): void;
}

/** The change sets of a workspace. */
export interface SessionChanges {
  readonly store: ChangeStore;
  /** Whether calls leave a change set. */
  readonly isRecording: boolean;
  forCall(): WorkspaceChanges;
  /** The same, keeping no content that `mayKeep` refuses. */
  keepingOnly(mayKeep: (bytes: Uint8Array) => boolean): SessionChanges;
}

/** The files of a workspace as the change set of one call sees them. */
export interface WorkspaceChanges {
  readonly store: CallStore;
  readonly isRecording: boolean;
  /** A link in the last place is captured itself. With `keep` the content goes into the store; `alone`: nothing below a folder. */
  capture(path: string, options: { readonly keep: boolean; readonly alone?: boolean }): Promise<Capture>;
  /** Paths of change sets. All or none; see `commitChanges`. What is replaced goes into the store. */
  commit(
    staged: readonly StagedChange[],
    options?: { readonly rule?: UseRule; readonly durable?: boolean },
  ): Promise<void>;
  /** The content of a file in the workspace, when that is what the digest says. */
  read(path: string, digest: string): Promise<Uint8Array | undefined>;
  /** The content of a staged file, when that is what the digest says. */
  content(source: ContentSource, digest: string): Promise<Uint8Array | undefined>;
  /** A path of a change set as this workspace spells it; undefined when it is outside. */
  inner(path: string): string | undefined;
}

/** What a tool may do with change sets: those of the workspace it works on. */
export interface ChangeHistory extends Pick<WorkspaceChanges, 'capture' | 'read' | 'inner'> {
  list(filter?: ChangeFilter): readonly ChangeSet[];
  get(change_id: string): ChangeSet | undefined;
  bytes(digest: string): Uint8Array | undefined;
  setStatus(change_id: string, status: ChangeStatus): void;
  /** All or none, under the rules of the call; refused to calls that may not write. */
  commit(
    staged: readonly StagedChange[],
    options?: { readonly durable?: boolean; readonly isRestored?: boolean },
  ): Promise<void>;
}

export const ABSENT: PathState = { kind: 'absent' };

export function sameState(one: PathState, other: PathState): boolean {
  switch (one.kind) {
    case 'file':
      return other.kind === 'file' && one.digest === other.digest && one.mode === other.mode;
    case 'link':
      return other.kind === 'link' && one.target === other.target;
    case 'folder':
      return other.kind === 'folder' && one.mode === other.mode;
    case 'absent':
      return other.kind === 'absent';
  }
}
