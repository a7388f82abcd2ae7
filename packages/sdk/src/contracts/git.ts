/**
 * The git capability given to tools and rules: the one place where the git program is started.
 *
 * A run is words our own code put together. What callers write reaches git only as a resolved hash, a checked name, a
 * pathspec behind `--`, or bytes on standard input.
 */
import type { ErrorEntry, JsonObject } from '@tool-runtime/protocol';
import type { LentFolder } from './commands.ts';

export interface GitRun {
  /** Verb and its words. */
  readonly words: readonly string[];
  /** `read` shows everything read-only; `write` lets git change its folder and the work tree. */
  readonly access: 'read' | 'write';
  /** Refused where an unfinished operation is not as git leaves it, also plumbing, which can be used there otherwise. */
  readonly finishes?: true;
  readonly stdin?: Uint8Array | string;
  /** Name of another index file in the git folder. */
  readonly index?: string;
  /** Variables of git itself, such as dates. */
  readonly env?: Readonly<Record<string, string>>;
  readonly remote?: GitRemote;
  /** Sign what the run commits, by the operator's ssh agent; a public key, or the path of one. */
  readonly signing?: { readonly key: string };
  /** More output than this is E_GIT, unless `overflow` says otherwise. */
  readonly maxBytes?: number;
  /** `cut`: git is ended where the output reaches the limit, and the output until then is the answer. */
  readonly overflow?: 'refuse' | 'cut';
  /** Exit codes that are answers; 0 by default. */
  readonly accept?: readonly number[];
  readonly signal?: AbortSignal;
}

export interface GitOutput {
  readonly code: number;
  readonly stdout: Buffer;
  readonly stderr: string;
  /** There was more output; the exit code says nothing then. */
  readonly isCut?: true;
}

/** A configured remote whose address the egress gate has passed. */
export interface GitRemote {
  readonly name: string;
  /** What git is given instead of the name: `options` bind it to the judged address and to nothing else. */
  readonly alias: string;
  /** Without credentials, for messages. */
  readonly url: string;
  readonly transport: 'http' | 'local' | 'ssh';
  readonly ssh?: SshTarget;
  /** Absolute folder of a local remote outside the workspace, shown to git for this run only. */
  readonly folder?: LentFolder;
  /** Absolute git folder of a local remote. */
  readonly repository?: string;
  /** What git needs before the verb to talk to it safely. */
  readonly options: readonly string[];
  /** Options of verbs that say how the other side of a local talk is started: with our configuration over its own. */
  readonly peer?: { readonly uploadPack: string; readonly receivePack: string };
  readonly env: Readonly<Record<string, string>>;
}

/** Where an ssh remote is, and what is needed to reach it and no other host. */
export interface SshTarget {
  readonly host: string;
  readonly user: string;
  readonly port: string;
  readonly hostKeyAlias?: string;
  /** Lines of known_hosts about this host. */
  readonly knownHosts: readonly string[];
  /** Public keys to choose from the agent's; empty: any of them. */
  readonly identities: readonly string[];
  /** Socket of the operator's agent. */
  readonly agent: string;
}

export interface PushRequest {
  readonly remote: string;
  readonly refspec: string;
  readonly force: boolean;
}

/** What a push does, settled and judged by the gate: the tool sends exactly this. */
export interface Publication {
  readonly remote: GitRemote;
  /** Undefined: the destination is deleted. */
  readonly hash: string | undefined;
  /** The commit behind it; undefined when it leads to none, or nothing is sent. */
  readonly commit: string | undefined;
  /** Full name at the remote. */
  readonly destination: string;
  /** Local branch that is sent, without `refs/heads/`; undefined when it is a tag or a bare commit. */
  readonly branch: string | undefined;
  readonly isForced: boolean;
}

/** The committer: from the repository's configuration, else the operator's, else a name made up from the session's actor. */
export interface GitIdentity {
  readonly name: string;
  readonly email: string;
  readonly madeUp: boolean;
}

export interface GitConfig {
  /** Last value of a key in git's own spelling (`branch.main.remote`). */
  get(key: string): string | undefined;
  all(key: string): readonly string[];
  keys(): readonly string[];
}

/** Files of the git folder itself (state of a merge, the index): never a caller's name. */
export interface GitFiles {
  read(name: string): Promise<Buffer | undefined>;
  /** Replaces the file; with `exclusive` an existing one is E_GIT. */
  write(name: string, bytes: Uint8Array, options?: { readonly exclusive: boolean }): Promise<void>;
  /** The way git itself replaces a file: under its lock. Fails while someone else holds that. */
  replace(name: string, bytes: Uint8Array): Promise<void>;
  remove(name: string): Promise<void>;
  /** Names of files below a folder, relative to the git folder; empty when there is none. */
  list(folder: string): Promise<readonly string[]>;
}

export interface GitRepository {
  /** Throws E_GIT with git's own words when the exit code is not an accepted one. */
  run(request: GitRun): Promise<GitOutput>;
  config(signal?: AbortSignal): Promise<GitConfig>;
  identity(signal?: AbortSignal): Promise<GitIdentity>;
  /** The operator's own configuration, which git itself never reads. */
  operatorConfig(): Promise<GitConfig>;
  /** Throws E_GIT for a name that is not configured, E_POLICY for an address that is not allowed. */
  remote(name: string, purpose: 'fetch' | 'push', signal?: AbortSignal): Promise<GitRemote>;
  readonly files: GitFiles;
  /**
   * Throws E_POLICY when one of these files of the work tree, as git names them (one character a byte), is the operator's
   * own and decides over tools: no verb may write over it.
   */
  requireChangeable(paths: readonly string[]): Promise<void>;
}

export interface OpenGit extends GitRepository {
  /** Warnings about the repository that no call has reported yet. Each is given out once. */
  takeNotices(): readonly ErrorEntry[];
  close(): Promise<void>;
}

export const GIT_VERBS = [
  'add',
  'commit',
  'checkout',
  'merge',
  'rebase',
  'push',
  'pull',
  'fetch',
  'branch',
  'stash',
  'restore',
  'continue',
  'abort',
  'recover',
] as const;
export type GitVerb = (typeof GIT_VERBS)[number];

/** What a call means to git: rules judge this and never a tool's name. */
export interface GitIntent {
  readonly verb: GitVerb;
  readonly message?: string;
  /** Name of a branch that the call would create. */
  readonly newBranch?: string;
  readonly remote?: string;
  /** What a push sends and where to. */
  readonly refspec?: string;
  readonly force?: boolean;
  /** Rule id → reason why its finding is to be passed over, for rules that allow it. */
  readonly overrides?: Readonly<Record<string, string>>;
}

export type ChangeKind = 'unchanged' | 'added' | 'modified' | 'deleted' | 'renamed' | 'copied' | 'type_changed';

export interface ChangedFile {
  readonly path: string;
  readonly from?: string;
  readonly kind: ChangeKind;
  /** Git mode of the new side: 100644, 100755, 120000 (link), 160000 (submodule); 000000 when deleted. */
  readonly mode: string;
  /** Object id of the new content; undefined when deleted or not in git's store (a file of the work tree). */
  readonly blob: string | undefined;
  /** What the content is known by when it is not in git's store. */
  readonly sha256?: string;
}

export interface AddedLine {
  readonly path: string;
  readonly line: number;
  readonly text: string;
}

/**
 * `staged`: what a commit would take. `head`: commits that are not published yet. `worktree`: every file that is not
 * ignored, unchanged ones marked as such. `range`: from a revision to HEAD.
 */
export type ChangeScope = 'staged' | 'head' | 'worktree' | 'range';

/** What a rule of the commit phase looks at: one frozen set of changes, whatever it was taken from. */
export interface ChangeSet {
  readonly scope: ChangeScope;
  /** Undefined when HEAD is detached. */
  readonly branch: string | undefined;
  readonly message: string | undefined;
  readonly files: readonly ChangedFile[];
  /** Tree or commit of the old side; undefined where the work tree has no commit below it. */
  readonly base: string | undefined;
  /** Git tree that holds the new side; undefined for the work tree. */
  readonly tree: string | undefined;
  /** Contents of changed files that still exist, one after the other. */
  contents(files: readonly ChangedFile[]): AsyncIterable<{ readonly file: ChangedFile; readonly bytes: Uint8Array }>;
  /** Without a choice those of all files git takes for text; of chosen files whatever its attributes say of them. */
  addedLines(files?: readonly ChangedFile[]): Promise<readonly AddedLine[]>;
  /** Newest commit of a range; undefined for what is not committed yet. */
  readonly tip: string | undefined;
  /** Contents that commits on the way brought in and later ones took out again: published all the same. */
  passing(): Promise<readonly ChangedFile[]>;
  /** Tracked files of the work tree that differ from the new side, a few of them. */
  worktreeDifferences(): Promise<readonly string[]>;
}

/** A copy of the index that nothing else changes. */
export interface FrozenIndex {
  /** Undefined where nothing was ever staged. */
  readonly bytes: Buffer | undefined;
  /** For git, which wants a file: its name in the git folder. It is written when this is asked first. */
  name(): Promise<string>;
  /** Removes the file. `name` fails afterwards. */
  discard(): Promise<void>;
}

/** What will be committed, byte for byte: the frozen index and the tree it makes. */
export interface CommitCandidate {
  readonly tree: string;
  readonly index: FrozenIndex;
  /** The message as hooks of the repository left it. */
  readonly message?: string;
}

/** A handle to put everything back as it was before a call that could lose work. */
export interface GitRecovery {
  readonly ref: string;
  readonly details: JsonObject;
}
