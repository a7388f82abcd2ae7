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

export interface OpenToolSource {
  readonly tools: readonly AnyTool[];
  readonly warnings: readonly ErrorEntry[];
  close(): Promise<void>;
}

/** Made for one runtime. */
export interface ToolSource {
  /** Names of tools it may bring, `*` allowed: a registry can name them before the source is opened. */
  readonly toolNames?: readonly string[];
  open(ports: ToolSourcePorts): MaybePromise<OpenToolSource>;
}
