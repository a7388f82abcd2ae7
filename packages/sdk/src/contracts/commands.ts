/** The command capability given to tools, and the port of the sandbox they run in. */
import type { ErrorEntry, ToolError } from '@tool-runtime/protocol';
import type { PathChange, StagedChange } from '../changes/change-set.ts';
import type { CommandList } from './command-list.ts';
import type { ByteFilter } from './redaction.ts';

/** A judged command list, ready to run. No shell is started: the runtime connects the processes itself. */
export interface CommandRequest {
  readonly list: CommandList;
  /** Workspace-relative. */
  readonly cwd: string;
  /** On top of the clean base environment; names are already judged. */
  readonly env: Readonly<Record<string, string>>;
  /** Given at once, none at all (end of file), or left open for `write` on the running command. */
  readonly stdin: Uint8Array | 'open' | null;
  /** True: the registry's domains, through our proxy. False: no network at all. */
  readonly network: boolean;
  /** It may go on as a job: later commands without network reach what it listens to on loopback. */
  readonly mayStay?: boolean;
  /** It sees the workspace read-only. */
  readonly onlyReads?: boolean;
  /** Left out: what the registry says. */
  readonly effects?: EffectsMode;
  /** Set by the runtime for every command that is not direct. */
  readonly keeper?: EffectsKeeper;
  /** Set by the runtime for commands of a transaction: what they see and write. */
  readonly tree?: StagedTree;
  /** Bytes of each stream kept for the answer, half of them head and half tail. */
  readonly maxOutputBytes: number;
  /** Told the folder `cwd` really is, below the workspace, right before the start; throws to refuse it. */
  requireFolder?(folder: string): void;
  /** Every stream goes through one before any of it is kept or shown. */
  readonly filter?: () => ByteFilter;
  readonly onOutput?: (stream: 'stdout' | 'stderr', chunk: Uint8Array) => void;
  /** Ends the wait for a place among the running commands, and kills the whole tree; what was printed is still returned. */
  readonly signal?: AbortSignal;
}

/**
 * What becomes of what a command writes in the workspace. `direct`: it is real at once. `recorded`: it is made real when the
 * command ends, all of it or none, and is on record. `preview`: nothing is real until `change_apply`. Strictest last.
 */
export const EFFECTS_MODES = ['direct', 'recorded', 'preview'] as const;
export type EffectsMode = (typeof EFFECTS_MODES)[number];

export function stricterEffects(one: EffectsMode, other: EffectsMode): EffectsMode {
  return EFFECTS_MODES.indexOf(one) < EFFECTS_MODES.indexOf(other) ? other : one;
}

/**
 * What a person who is asked about a command sees. `command_line`: the command, before it runs. Otherwise it runs on an overlay
 * first, and they see its output and its changes as well; a yes makes exactly those real, a no discards them.
 */
export const ASK_MODES = ['command_line', 'with_effects', 'with_effects_and_network'] as const;
export type AskMode = (typeof ASK_MODES)[number];

/** Takes what a command wrote on its overlay. */
export interface EffectsKeeper {
  /**
   * Asked when the command has ended, before anything becomes of it; throws when nothing may. With it the command never runs
   * directly, shares no network with others, and may only read the caches.
   */
  ask?(ran: RanCommand): Promise<void>;
  /** Makes all of it real or none, and answers the id of the change set, where one is kept. */
  apply(changes: readonly StagedChange[]): Promise<string | undefined>;
  /** Keeps it for `change_apply`. */
  hold(changes: readonly StagedChange[]): Promise<{ readonly change_id?: string; readonly diff: string }>;
  /** For a command of a transaction: takes all that its tree differs in, and answers what is new. */
  stage?(effects: StagedEffects): Promise<readonly PathChange[]>;
  /** See `StagedTree.collect`. */
  readonly known?: ReadonlySet<string>;
}

/** For programs that a tool starts by itself: what becomes of what they write in the workspace. */
export interface ProgramEffects {
  readonly mode: Exclude<EffectsMode, 'direct'>;
  readonly keeper: EffectsKeeper;
}

/** What a command wrote in the workspace, when it ran on an overlay. */
export interface CommandEffects {
  /** `staged`: in a transaction, real with its commit. */
  readonly mode: Exclude<EffectsMode, 'direct'> | 'staged';
  /** Absent when it changed nothing. */
  readonly change_id?: string;
  /** Every file, link and folder, sorted by path. */
  readonly changes: readonly PathChange[];
  /** What it made that is never applied: devices, set-user-id bits, governing files. */
  readonly leftOut: readonly LeftOutEntry[];
  /** Unified diff, bounded; with `preview` only. */
  readonly diff?: string;
}

/** A command that ran on an overlay, and what it would change. */
export interface RanCommand {
  readonly outcome: CommandOutcome;
  readonly changes: readonly StagedChange[];
  readonly leftOut: readonly LeftOutEntry[];
}

export interface LeftOutEntry {
  readonly path: string;
  readonly reason: string;
}

export interface CapturedStream {
  /** The whole output, or its head and tail with a mark in between. */
  readonly text: string;
  readonly totalBytes: number;
  readonly truncated: boolean;
  /** What is left out of the middle, exactly; only when it was cut. */
  readonly gap?: OutputGap;
}

export interface OutputGap {
  /** Offset of the first byte that is left out. */
  readonly from: number;
  readonly bytes: number;
  /** Line breaks among them. */
  readonly lines: number;
}

export interface CommandOutcome {
  /** Exit code of the list, as a shell would report it; null when a signal ended it. */
  readonly code: number | null;
  readonly signal: string | null;
  readonly stdout: CapturedStream;
  readonly stderr: CapturedStream;
  /** False where the platform cannot enforce the absence of network (isolation `none`). */
  readonly networkEnforced: boolean;
  /** What a reader of the outcome should know: that the network was off, where a missing program is. */
  readonly hints?: readonly ErrorEntry[];
  /** Workspace-relative names of what the command put where only the runtime may write (a new `.git`), moved aside. */
  readonly quarantined?: readonly string[];
  /** When it ran on an overlay. */
  readonly effects?: CommandEffects;
  /** Why it did not, although that was asked for. */
  readonly effectsProblem?: string;
}

/** A command that runs on while its caller does other things. */
export interface RunningCommand {
  readonly pids: readonly number[];
  write(bytes: Uint8Array): Promise<void>;
  endInput(): void;
  /** Whether one of its processes listens on this TCP port, in whatever network namespace it runs. */
  isListening(port: number): boolean;
  /** It goes on as a job: its place among the running commands is free for others. */
  toBackground(): void;
  /** Kills the tree; resolves when nothing of it is left. */
  stop(): Promise<void>;
  readonly done: Promise<CommandOutcome>;
}

/** Throws E_POLICY when there is no sandbox, E_SHELL when a program cannot be started. */
export interface CommandRunner {
  start(request: CommandRequest): Promise<RunningCommand>;
}

/** The runner as its owner holds it: closing kills what still runs. */
export interface OpenCommandRunner extends CommandRunner {
  close(): Promise<void>;
}

/** The runner of a session. */
export interface StagingCommandRunner extends OpenCommandRunner {
  /** A copy of the workspace where this machine gives no overlay. Throws E_POLICY (`no_overlay`) for one that is too large. */
  stage(signal?: AbortSignal): Promise<StagedTree>;
}

/** How a process ended. With `notStarted` the program itself never ran, and the words say why. */
export interface ProcessEnd {
  readonly code: number | null;
  readonly signal: string | null;
  readonly notStarted?: string;
}

export interface SandboxedProgram {
  /** Absolute path on the host. */
  readonly program: string;
  readonly args: readonly string[];
  readonly env: Readonly<Record<string, string>>;
  /** Folder to start in: workspace-relative, or absolute inside one of the request's `folders`. */
  readonly cwd: string;
}

/** What to start on the host instead. */
export interface ConfinedProcess {
  readonly program: string;
  readonly args: readonly string[];
  readonly env: Readonly<Record<string, string>>;
  readonly cwd: string;
  /**
   * The sandbox writes on descriptor 3 what becomes of the program, which `settle` reads, and waits at descriptor 4
   * until `verify` has found it as it should be.
   */
  readonly reports: boolean;
  /** It also waits at descriptor 5, until `verifyEarly` has found what was mounted so far as it should be. */
  readonly pauses: boolean;
}

/**
 * A file or folder that programs may not change, at any depth, whether it exists or not. Absolute, links resolved.
 *
 * `hide` is for what they must not read either: tokens, sockets, state. A path that no mount makes visible is ignored.
 */
export interface ProtectedPath {
  readonly path: string;
  readonly access: 'read_only' | 'hide';
}

/** The root of a workspace, held open: a name can lead elsewhere later, a descriptor cannot. */
export interface HeldWorkspace {
  /** Absolute, without links: where it was when it was opened, and where programs see it. */
  readonly path: string;
  /** A new descriptor of the folder; the caller closes it. */
  open(): number;
}

/** A folder of the host that programs see at its own path, which holds no link. */
export interface LentFolder {
  readonly path: string;
  readonly writable: boolean;
  /** `device:inode` it had when it was judged. */
  readonly identity?: string;
}

export interface SandboxRequest {
  readonly workspace: HeldWorkspace;
  readonly writable: boolean;
  /** Host path of the egress proxy's Unix socket, or null for no network. */
  readonly proxySocket: string | null;
  readonly protectedPaths: readonly ProtectedPath[];
  /** Programs in them can be run. */
  readonly folders?: readonly LentFolder[];
  /** The network to start in, for programs without a way out of it. Left out: one of their own. */
  readonly network?: SharedNetwork;
  /** Nothing outside the workspace may be changed, caches included. */
  readonly readsOutside?: boolean;
  /** Shown in place of the workspace: what is written goes to the overlay, and the workspace stays as it is. */
  readonly overlay?: WorkspaceOverlay;
}

/** A copy-on-write view of the workspace, mounted in a mount namespace of its own. */
export interface WorkspaceOverlay {
  /** Put before a program, these words start it in that namespace. */
  readonly words: readonly string[];
  /** Where it is mounted there. Absolute. */
  readonly path: string;
  /** A new descriptor of its root; the caller closes it. */
  open(): number;
}

/** The state that a transaction has reached: a copy-on-write view that file tools and commands share until it is released. */
export interface StagedTree extends WorkspaceOverlay {
  /** Why there is no overlay: then the tree is a copy of the workspace, and no command can run on it. */
  readonly problem?: ToolError;
  /** Where a folder really is below the root. Throws E_POLICY for a path that leaves, E_SHELL when there is no such folder. */
  folder(path: string): string;
  /**
   * All that differs from the workspace now. `conflicts`: what someone else changed there since the tree was made. `known`:
   * paths of which is known what they were before they were changed on the tree.
   */
  collect(known: ReadonlySet<string>, signal?: AbortSignal): Promise<StagedEffects>;
  /** A tree that shows the same; what is written on it goes with it. */
  cover(): Promise<StagedTree>;
  release(): Promise<void>;
}

export interface StagedEffects {
  /** Sorted by path; `before` is what the workspace holds now. */
  readonly changes: readonly StagedChange[];
  readonly leftOut: readonly LeftOutEntry[];
  readonly conflicts: readonly string[];
}

/** A loopback that several sandboxes share, with no way out. */
export interface SharedNetwork {
  /** Put before a program, these words start it inside. */
  readonly words: readonly string[];
  /** As the kernel names it. */
  readonly identity: string;
  close(): void;
}

/** The sandbox around the processes of one command list. */
export interface Sandbox {
  /** As the processes see them. */
  readonly places: { readonly home: string; readonly temporary: string };
  /** Throws E_SHELL when the program cannot be seen from inside. */
  confine(program: SandboxedProgram): ConfinedProcess;
  /**
   * Whether the sandbox with this first process shows what was checked; false while it is being set up. Throws E_POLICY
   * when it shows something else: the program must not start then.
   */
  verify(init: number): boolean;
  /** Same, before anything is mounted at a place that others can change. */
  verifyEarly(init: number): boolean;
  /** To be called when the started process has ended: answers when nothing of it is left, and how the program ended. */
  settle(end: ProcessEnd, report: string): Promise<ProcessEnd>;
  /** To be called last. Protected names that appeared meanwhile are moved aside; answers their new names. */
  leave(): readonly string[];
}

export interface WallProblem {
  readonly problem: string;
  readonly next: string;
}

/** How processes are sandboxed. `bubblewrap` and `none` exist; Seatbelt or containers fit the same shape. */
export interface Isolation {
  readonly name: string;
  readonly enforcesNetwork: boolean;
  /** Undefined when the sandbox works (self-test passed, once); otherwise what is missing and what to do. */
  check(): Promise<WallProblem | undefined>;
  /** Only after `check` found no problem. */
  enter(request: SandboxRequest): Sandbox;
  /** A network for several sandboxes; undefined where there can be none. Only after `check` found no problem. */
  openNetwork?(): Promise<SharedNetwork | undefined>;
}
