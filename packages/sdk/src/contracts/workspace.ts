/**
 * The file capability given to tools: already bound to one root and one policy.
 *
 * Paths are workspace-relative, forward slashes. Nothing here returns an absolute path, and no method accepts a
 * string that was checked earlier: resolution happens by descriptor at the moment of use.
 * Methods throw ToolError: E_POLICY for a path that leaves the root or names something protected, E_FILE_IO otherwise.
 * A method may answer synchronously (small files cost a twelfth that way) or with a promise: always `await` it.
 */
import type { FoundPath, LinkUse, PathAccess, PathRule } from './path-text.ts';
import type { ListAnswer, ListQuery, SearchAnswer, SearchQuery } from './search.ts';

export type MaybePromise<T> = T | Promise<T>;

export type EntryType = 'file' | 'directory' | 'symlink' | 'other';

export interface FileStat {
  readonly type: EntryType;
  readonly size: number;
  /** Permission bits only. */
  readonly mode: number;
  readonly mtimeMs: number;
  /** `device:inode`: equal for two names of one file. */
  readonly identity: string;
  /** The text of a link; missing for everything else. */
  readonly target?: string;
}

export interface FileContent {
  readonly bytes: Uint8Array;
  /** Size of the whole file, also when `bytes` is a prefix. */
  readonly size: number;
  readonly mode: number;
  /** Lower-case hex digest of the whole file; empty when `isPartial`. */
  readonly sha256: string;
  readonly truncated: boolean;
  /** A huge file of which only the wanted part was read: it has no digest. */
  readonly isPartial?: true;
}

export interface ReadOptions {
  /** Bytes to hand back; the digest still covers the whole file. */
  readonly maxBytes?: number;
  /** Looked at only while a large file is read, so that a getter costs the small ones nothing. */
  readonly signal?: AbortSignal;
  /** Sees the whole file in order, piece by piece, whatever `maxBytes` says; a piece is overwritten afterwards. */
  onPiece?(piece: Uint8Array): void;
  /** With this a huge file is read only until it answers true, and gets no digest. */
  isEnough?(): boolean;
}

/** Hears of a change while it is made, for those who keep what it replaced. */
export interface ChangeWatch {
  /** Where the name really is, below the root that path rules are written for, and which folders were made on the way. */
  at(location: string, made: readonly { readonly path: string; readonly mode: number }[]): void;
  /** The content that is being replaced, in order; a piece is overwritten afterwards. */
  piece(bytes: Uint8Array): void;
  /** All of that content, in place of its pieces; these bytes stay as they are. */
  whole(bytes: Uint8Array): void;
}

export interface RemoveFileOptions {
  readonly watch?: ChangeWatch;
  /** Content precondition. While it is checked no other host that checks one can change the file. */
  readonly expectedSha256?: string;
}

export interface WriteOptions {
  /** Permission bits of a new file; an existing file keeps its own unless `forceMode`. */
  readonly mode?: number;
  readonly forceMode?: boolean;
  readonly createDirs?: boolean;
  /** Fail with E_FILE_IO when the name exists. */
  readonly exclusive?: boolean;
  /**
   * Content precondition: the current digest, or null for "must not exist". Checked right before the rename, under a
   * lock across processes: of several hosts that expect the same content, one succeeds. E_TIMEOUT after ten seconds.
   */
  readonly expectedSha256?: string | null;
  /** Sync file and folder before answering, whatever the durability of the runtime. */
  readonly durable?: boolean;
  readonly watch?: ChangeWatch;
}

/** One file of several that are written together. */
export interface FileWrite {
  readonly path: string;
  /** Null removes the file. */
  readonly bytes: Uint8Array | null;
  /** The current digest; null for "must not exist". */
  readonly expectedSha256: string | null;
  /** Permission bits of a file that does not exist; default 0644. */
  readonly mode?: number;
  /** `mode` holds for a file that exists, too. */
  readonly forceMode?: boolean;
}

export interface WriteAllOptions {
  /** The content is not new: it comes from version control, and rules of the after phase do not judge it. */
  readonly isRestored?: boolean;
}

/** What one mutation did to one name. Null where nothing was or is. */
export interface FileChange {
  readonly path: string;
  readonly before: FileSnapshot | null;
  readonly after: FileSnapshot | null;
}

export interface FileSnapshot {
  /** Lower-case hex; null where there is no content (folder, link) or it was not read (too large, not readable). */
  readonly sha256: string | null;
  /** Bytes; for a folder the sum of the files below it, for a link the length of its text. */
  readonly size: number;
  readonly mode: number;
  /** What it is, when it is no regular file. */
  readonly type?: Exclude<EntryType, 'file'>;
}

/** What a mutation that may concern a whole tree did. */
export interface TreeChange {
  /** The names the caller gave, not every file below them; empty when nothing had to be done. */
  readonly changes: readonly FileChange[];
  /** Files, folders and links concerned. */
  readonly entries: number;
  readonly bytes: number;
}

export interface DirectoryItem {
  readonly name: string;
  readonly type: EntryType;
}

export interface MoveOptions {
  /** Replace what has the name; otherwise an existing name is E_FILE_IO and nothing happens. */
  readonly overwrite: boolean;
  readonly createDirs?: boolean;
  readonly signal?: AbortSignal;
}

export interface CopyOptions extends MoveOptions {
  /** Otherwise files get 0644 and folders 0755. */
  readonly preserveMode: boolean;
}

export interface RemoveOptions {
  /** Otherwise a folder is removed only when it is empty. */
  readonly recursive: boolean;
  readonly signal?: AbortSignal;
}

export interface Workspace {
  stat(path: string): MaybePromise<FileStat | null>;
  readFile(path: string, options?: ReadOptions): MaybePromise<FileContent>;
  /** Atomic: readers see the old file or the new one, never half. */
  writeFile(path: string, bytes: Uint8Array, options?: WriteOptions): MaybePromise<FileChange>;
  /**
   * Several files, all of them or none, also when the process is killed; missing folders are made. E_FILE_IO with
   * `precondition_failed` when one is not what is expected. Undefined where it cannot be done.
   */
  writeAll?(files: readonly FileWrite[], options?: WriteAllOptions): Promise<readonly FileChange[]>;
  /** Removes one regular file or link (never a folder). Null when there was none. */
  removeFile(path: string, options?: RemoveFileOptions): MaybePromise<FileChange | null>;
  /** Entries of one folder in no order, without `.` and `..`; links are not followed. */
  readDirectory(path: string): MaybePromise<readonly DirectoryItem[]>;
  /** Makes the folder and its missing parents. Null when it existed. */
  makeDirectory(path: string): MaybePromise<FileChange | null>;
  /**
   * One name to another, files and folders; a link is moved itself. After a crash the tree is the old one or the new
   * one, or, where a folder replaced a folder, new with the replaced one still under the old name.
   */
  move(from: string, to: string, options: MoveOptions): Promise<TreeChange>;
  /** Links are copied as links, never followed. After a crash the target is what it was, or whole, or absent. */
  copy(from: string, to: string, options: CopyOptions): Promise<TreeChange>;
  /** A folder disappears in one step; its content is removed after that. Null when there was nothing. */
  remove(path: string, options: RemoveOptions): Promise<TreeChange | null>;
  /** Names by glob, sorted; links are listed and never followed. Throws the signal's reason. */
  list(query: ListQuery): Promise<ListAnswer>;
  /** Text in files. A fired signal ends the search: what was found until then is the answer. */
  search(query: SearchQuery): Promise<SearchAnswer>;
  /** Stable keys of a name for locking: two spellings of one file share at least one key. */
  lockKeys(path: string): readonly string[];
  /**
   * Throws E_POLICY when the path rules of the call forbid such a use. Every other method asks the same question as it
   * opens the path; this one is for a tool that wants the answer for all its files before it touches the first. A link in
   * the last place is followed unless `links` says that the tool means the link itself.
   */
  requireAllowed(path: string, access: PathAccess, links?: LinkUse): void;
}

/** The workspace before it is given to a call. */
export interface SessionWorkspace extends Workspace {
  /** Absolute path of the root. */
  readonly rootPath: string;
  /** The same files; every use of a path is judged by `rule` while the path is held open. */
  under(rule: PathRule): Workspace;
  /** `through`: a link in the last place is followed. Throws E_POLICY for a path that leaves. */
  locate(path: string, links: LinkUse): FoundPath;
}

type Reading = 'stat' | 'readFile' | 'readDirectory' | 'list' | 'search' | 'lockKeys' | 'requireAllowed';

/** What only looks, for views that wrap the rest. */
export function readingPart(workspace: Workspace): Pick<Workspace, Reading> {
  return {
    stat: workspace.stat.bind(workspace),
    readFile: workspace.readFile.bind(workspace),
    readDirectory: workspace.readDirectory.bind(workspace),
    list: workspace.list.bind(workspace),
    search: workspace.search.bind(workspace),
    lockKeys: workspace.lockKeys.bind(workspace),
    requireAllowed: workspace.requireAllowed.bind(workspace),
  };
}
