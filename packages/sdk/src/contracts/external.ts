/**
 * External tools: programs of their own that are run by a fixed protocol, each run with a folder and a `result.json`.
 *
 * The names of fields are the protocol's; additions of this runtime are marked as such.
 */
import type { JsonObject, JsonValue } from '@tool-runtime/protocol';
import type { SideEffectLevel, ToolKind } from './annotations.ts';

export const EXTERNAL_PROFILES = ['neutral', 'epack'] as const;
export type ExternalProfile = (typeof EXTERNAL_PROFILES)[number];

/** One entry of `external_tools`, with every default filled in. */
export interface ExternalToolSettings {
  /** Wire name, and the folder its runs lie in. */
  readonly name: string;
  readonly summary: string;
  /**
   * The program: absolute, or relative to the folder of the lock file. It is what `lock` pins. Empty: the host's tool of
   * the same name, in registries that only narrow.
   */
  readonly command: string;
  /** Arguments placed before the caller's own. */
  readonly args: readonly string[];
  /** Program that runs `command`, with its options; a bare name or an absolute path. Not pinned: part of the system. */
  readonly interpreter: readonly string[];
  /** Further files and folders the program needs, relative to its folder; pinned and copied with it. */
  readonly files: readonly string[];
  readonly profile: ExternalProfile;
  /** JSON Schema of the arguments callers may give under `inputs`; none: no inputs. */
  readonly args_schema?: JsonObject;
  readonly kind: ToolKind;
  readonly side_effect_level: SideEffectLevel;
  /** Whether it may change the workspace, not only its run folder; the level must then be `workspace_write` or above. */
  readonly writable: boolean;
  /** Whether it may use the network; the level must then be `network`. */
  readonly network: boolean;
  /** Variables of the host that are passed on, by name. */
  readonly secrets: readonly string[];
  readonly timeout_ms: number;
  /** What the tool declares (`--capabilities`), unless the operator sets it here. */
  readonly requires_pack?: boolean;
  /** Given to the tool as a JSON file. */
  readonly config?: JsonObject;
  /** Absolute paths shown to it, read-only. */
  readonly read_paths: readonly string[];
  /** Where it was got from; must be what the lock says. */
  readonly source?: string;
  /** May run without a lock entry. On record every time; refused where `CI` is set. */
  readonly allow_unpinned: boolean;
}

export const RUN_STATUSES = ['success', 'failure', 'partial'] as const;
export type RunStatus = (typeof RUN_STATUSES)[number];

export interface RunEntry {
  readonly code: string;
  readonly message: string;
  readonly path?: string;
  readonly details?: JsonValue;
}

export interface RunOutput {
  /** Relative to the run folder. */
  readonly path: string;
  readonly media_type: string;
  readonly digest?: string;
  readonly bytes?: number;
}

export interface RunIdentity {
  readonly workspace?: string;
  readonly actor?: string;
  /** `user`, `service`, `ci` or `unknown`. */
  readonly actor_type?: string;
  /** `interactive`, `api_key` or `ci_token`. */
  readonly auth_mode?: string;
}

export interface RunContext {
  readonly ci?: boolean;
  readonly ci_provider?: string;
  readonly repo?: string;
  readonly commit?: string;
  readonly branch?: string;
  readonly runner_os?: string;
  readonly runner_arch?: string;
}

export interface SigningIdentity {
  readonly issuer?: string;
  readonly subject?: string;
  readonly source_repository_uri?: string;
  readonly source_repository_ref?: string;
}

export interface ResolvedFrom {
  readonly registry?: string;
  readonly descriptor?: string;
}

/** `result.json`. Unknown fields are kept where a file is read and written again. */
export interface RunResult {
  readonly schema_version: number;
  readonly wrapper: { readonly name: string; readonly version: string };
  readonly tool: { readonly name: string; readonly version: string; readonly protocol_version: number };
  readonly run_id: string;
  readonly pack_path?: string;
  readonly pack_digest?: string;
  readonly started_at: string;
  readonly completed_at: string;
  readonly duration_ms: number;
  readonly exit_code: number;
  /** Null when the tool never ran. */
  readonly tool_exit_code: number | null;
  readonly status: RunStatus;
  readonly inputs: JsonObject;
  readonly outputs: readonly RunOutput[];
  readonly errors: readonly RunEntry[];
  readonly warnings: readonly RunEntry[];
  readonly sync?: { readonly ledger_id: string | null; readonly synced_at: string | null; readonly workspace?: string };
  readonly identity?: RunIdentity;
  readonly run_context?: RunContext;
  readonly run_digest?: string;
  readonly signing?: SigningIdentity;
  readonly resolved_from?: ResolvedFrom;
}

/** What `--capabilities` answers. */
export interface ToolCapabilities {
  readonly name: string;
  readonly version: string;
  readonly protocol_version: number;
  readonly description?: string;
  readonly requires_pack: boolean;
  readonly network: boolean;
  readonly requires_tools: readonly string[];
  readonly requires_outputs: readonly string[];
  readonly publisher?: string;
  readonly repo?: string;
  readonly signing_identity?: string;
  readonly commands?: readonly string[];
}

export interface LockedPlatform {
  /** `sha256:` + hex of the program. */
  readonly digest: string;
  /** Relative path → digest of everything `files` names, when it names anything. */
  readonly files?: Readonly<Record<string, string>>;
  readonly url?: string;
}

export interface LockedTool {
  readonly source?: string;
  readonly version: string;
  readonly commit?: string;
  readonly signer?: SigningIdentity;
  readonly resolved_from?: ResolvedFrom;
  readonly locked_at: string;
  /** `linux/amd64` → what is pinned there. */
  readonly platforms: Readonly<Record<string, LockedPlatform>>;
}

/** Name of the lock; beside the operator's registry, else in the workspace root. */
export const LOCK_FILE = 'tool-runtime.lock';

/** Its content: JSON with sorted keys. */
export interface LockFile {
  readonly schema_version: 1;
  readonly tools: Readonly<Record<string, LockedTool>>;
}

/** A file of a run folder: its bytes, or why there are none. */
export type RunFile = Uint8Array | 'missing' | 'too_large' | 'unreadable';

/**
 * What earlier runs left behind, for dependency checks. Names are single path parts; an implementation follows no link
 * and answers "nothing" for what it cannot reach.
 */
export interface RunHistory {
  /** Run ids of a tool, newest first. */
  runsOf(tool: string): readonly string[];
  readResult(tool: string, runId: string): RunFile;
  /** Whether a regular file lies at these parts below the folder of all tools. */
  hasOutput(parts: readonly string[]): boolean;
}

// The two names that become folders of a run: the tool's and the run's. Both are checked before they become part of a path.
const TOOL_NAME = /^[a-z0-9][a-z0-9._-]{0,63}$/;
const RUN_ID = /^\d{4}-\d{2}-\d{2}T\d{2}-\d{2}-\d{2}-\d{6}Z-\d{6}$/;

export function isExternalToolName(name: string): boolean {
  return TOOL_NAME.test(name) && !name.includes('..');
}

/** `YYYY-MM-DDTHH-MM-SS-uuuuuuZ-NNNNNN`: UTC to the microsecond, then a counter; sorts by time. */
export function isRunId(text: string): boolean {
  return RUN_ID.test(text);
}
