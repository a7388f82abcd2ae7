/**
 * The file capability handed to tools: already bound to one root and one policy.
 *
 * Paths are workspace-relative, forward slashes. Nothing here returns an absolute path, and no method accepts a
 * string that was checked earlier: resolution happens by descriptor at the moment of use.
 * Methods throw ToolError: E_POLICY for a path that leaves the root or names something protected, E_FILE_IO otherwise.
 * A method may answer synchronously (small files cost a twelfth that way) or with a promise: always `await` it.
 */
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
}

export interface FileContent {
  readonly bytes: Uint8Array;
  /** Size of the whole file, also when `bytes` is a prefix. */
  readonly size: number;
  readonly mode: number;
  /** Lower-case hex digest of the whole file. */
  readonly sha256: string;
  readonly truncated: boolean;
}

export interface ReadOptions {
  /** Bytes to hand back; the digest still covers the whole file. */
  readonly maxBytes?: number;
  readonly signal?: AbortSignal;
}

export interface WriteOptions {
  /** Permission bits of a new file; an existing file keeps its own unless `forceMode`. */
  readonly mode?: number;
  readonly forceMode?: boolean;
  readonly createDirs?: boolean;
  /** Fail with E_FILE_IO when the name exists. */
  readonly exclusive?: boolean;
  /** Content precondition: the current digest, or null for "must not exist". Checked again right before the rename. */
  readonly expectedSha256?: string | null;
  /** fdatasync file and folder before answering. */
  readonly durable?: boolean;
}

/** What one mutation did to one name. Hashes are null where the file did not or does not exist. */
export interface FileChange {
  readonly path: string;
  readonly before: FileSnapshot | null;
  readonly after: FileSnapshot | null;
}

export interface FileSnapshot {
  readonly sha256: string;
  readonly size: number;
  readonly mode: number;
}

export interface Workspace {
  stat(path: string): MaybePromise<FileStat | null>;
  readFile(path: string, options?: ReadOptions): MaybePromise<FileContent>;
  /** Atomic: readers see the old file or the new one, never half. */
  writeFile(path: string, bytes: Uint8Array, options?: WriteOptions): MaybePromise<FileChange>;
  /** Removes one regular file or link (never a folder). Null when there was none. */
  removeFile(path: string): MaybePromise<FileChange | null>;
  /** Stable keys of a name for locking: two spellings of one file share at least one key. */
  lockKeys(path: string): readonly string[];
}
