/** Tools that are known only when the registry is: their source is opened with it, before the first session. */
import type { ErrorEntry } from '@tool-runtime/protocol';
import type { HeldWorkspace, OpenCommandRunner } from './commands.ts';
import type { GoverningPlace } from './governing.ts';
import type { Registry } from './registry.ts';
import type { AnyTool } from './tool.ts';
import type { MaybePromise } from './workspace.ts';

/** How a source's own programs are sandboxed, in addition to what the registry says. Set by the operator, never by a tool. */
export interface ProgramWall {
  readonly isolation: 'bubblewrap' | 'none';
  /** Programs are looked for here too. Absolute. */
  readonly programFolders: readonly string[];
  /** A program that may be named by this absolute path, which is then the one that runs. */
  readonly exactProgram?: string;
  /** Shown read-only. Absolute. */
  readonly readPaths: readonly string[];
  /** Whether they may change the workspace. */
  readonly writable: boolean;
}

export interface ToolSourcePorts {
  readonly registry: Registry;
  /** Real path of the workspace. */
  readonly root: string;
  /** The same folder, held open. */
  readonly workspace: HeldWorkspace;
  /** Real path of the runtime's private folder. */
  readonly state: string;
  /** The lock of external tools: where it lies, and whether this content of it counts (SHA-256, lower-case hex). */
  readonly lock: { readonly path: string; isTrusted(sha256: string): boolean };
  /** What decides over tools, wherever it lies: no program of a source may change it. */
  readonly governing: readonly GoverningPlace[];
  /** Names that are taken. */
  readonly names: ReadonlySet<string>;
  /** Programs that live as long as the runtime; closing the runner ends them. */
  openPrograms(wall: ProgramWall): OpenCommandRunner;
  /** Masks known secrets and changes nothing else. */
  redact(text: string): string;
}

/** One version of what a mounted server says about a tool. */
export interface ForeignVersion {
  readonly digest: string;
  readonly definition: object;
}

/**
 * A tool of a mounted server. `approved` may be used; `pending` was seen at the server and waits; `refused` says why
 * the newest version was not even kept.
 */
export interface ForeignTool {
  /** At the server. */
  readonly tool: string;
  /** In the runtime; undefined for one that was seen after the runtime opened. */
  readonly name: string | undefined;
  readonly approved?: ForeignVersion;
  readonly pending?: ForeignVersion;
  readonly refused?: string;
}

/** A server whose tools a source brings, each as an operator approved it. */
export interface ForeignServer {
  readonly server: string;
  /** The command or the address, with known secrets masked. */
  readonly target: string;
  readonly isRunning: boolean;
  tools(): readonly ForeignTool[];
  /** Asks a fresh instance of the server for its tools. Calls that run are not disturbed; what is new or changed waits. */
  refresh(): Promise<void>;
  /**
   * Approves versions that wait, by tool and digest; answers the tools that were not approved before. All or none: throws
   * E_POLICY, reason `definition_changed`, when one of them is not the version that waits.
   */
  approve(versions: ReadonlyMap<string, string>): readonly string[];
}

export interface OpenToolSource {
  readonly tools: readonly AnyTool[];
  readonly warnings: readonly ErrorEntry[];
  /** The servers behind the tools, where there are any. */
  servers?(): readonly ForeignServer[];
  close(): Promise<void>;
}

/** Made for one runtime. */
export interface ToolSource {
  /** Names of tools it may bring, `*` allowed: a registry can name them before the source is opened. */
  readonly toolNames?: readonly string[];
  open(ports: ToolSourcePorts): MaybePromise<OpenToolSource>;
}
