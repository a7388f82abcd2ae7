/** The compiled, frozen registry: what the operator allows, with the line that says so. */
import type { ErrorEntry, JsonObject, JsonValue } from '@tool-runtime/protocol';
import type { SideEffectLevel } from './annotations.ts';
import type { Enforcement } from './classes.ts';
import type { AskMode, EffectsMode } from './commands.ts';
import type { CoordinatorSettings } from './coordinator.ts';
import type { ExternalToolSettings } from './external.ts';
import type { McpServerSettings } from './mcp-servers.ts';

/** Where in a registry file something is written. Lines and columns start at 1. */
export interface RegistrySpot {
  readonly file: string;
  readonly line: number;
  readonly column: number;
}

export interface Validator {
  readonly rule: string;
  readonly enforcement: Enforcement;
}

/** A call that the registry says it allows, asks about or denies. */
export interface PolicyExample {
  /** Where it is written. */
  readonly path: string;
  readonly tool: string;
  readonly args: JsonObject;
  readonly expected: 'allow' | 'ask' | 'deny';
  /** The decisions that fulfil it. */
  readonly anyOf: readonly ('allow' | 'ask' | 'deny')[];
  /** The rule whose entry it is written at. */
  readonly rule?: string;
}

/** A linear-time pattern compiled once; `source` is what the operator wrote. */
export interface CompiledPattern {
  readonly source: string;
  test(text: string): boolean;
}

/** `undefined` means unset (no limit from here); an empty list means nothing at all. */
export interface CapabilityPolicy {
  /** Tool names or globs. */
  readonly tools?: readonly string[];
  /**
   * Tools that may run although their side-effect level is not known. Unset: the plain names in `tools`. Written by
   * intersection only, because a name in one policy must not count as a name in the other.
   */
  readonly explicit_tools?: readonly string[];
  readonly capabilities?: Readonly<Record<string, readonly string[]>>;
  readonly workspace_roots?: readonly string[];
  readonly side_effect_level?: SideEffectLevel;
  readonly recursion_limit?: number;
  readonly tool_arg_constraints?: readonly ToolArgConstraint[];
}

export interface ToolArgConstraint {
  /** Tool name or glob. */
  readonly tool: string;
  /** Globs; the value must match at least one. */
  readonly arg_patterns: readonly string[];
  readonly arg_key?: string;
}

export interface ApprovalPolicy {
  readonly auto_approve?: readonly string[];
  /**
   * What stands for `auto_approve` where a tool asks by default, as foreign ones do. Unset: `auto_approve`. Written by
   * merging only, because a list beside a host that has none must not answer questions the host would ask.
   */
  readonly auto_approve_foreign?: readonly string[];
  readonly auto_deny?: readonly string[];
  readonly require_approval?: readonly string[];
  readonly write_path_allowlist?: readonly string[];
}

export interface ToolSettings {
  readonly enabled: boolean;
  readonly timeout_ms?: number;
  readonly max_timeout_ms?: number;
}

export interface Limits {
  readonly max_in_flight: number;
  readonly lock_wait_ms: number;
  readonly max_request_bytes: number;
  readonly approval_timeout_ms: number;
  readonly max_jobs: number;
  readonly max_workspace_jobs: number;
  readonly max_answer_tokens: number;
  readonly max_kept_jobs: number;
  /** Left out: by the number of processor cores. */
  readonly max_commands?: number;
}

export interface Budgets {
  readonly max_calls?: number;
  readonly max_bytes?: number;
  readonly max_duration_ms?: number;
}

export interface ChangeSettings {
  readonly record: boolean;
  readonly days: number;
  readonly max_file_mib: number;
  readonly max_mib: number;
  /** A transaction that no call joins for so long is given up. */
  readonly tx_minutes: number;
  /** Commands of the registry that must pass on the staged tree before a transaction is committed. */
  readonly tx_checks: readonly string[];
}

/** Whether and how long arguments of calls are kept for rehearsals. */
export interface SealedArgsSettings {
  readonly keep: boolean;
  readonly days: number;
  /** Of one call. */
  readonly max_kib: number;
}

export interface ChildSettings {
  /** Children one session may start over its whole life; each child may start as many. */
  readonly max_children: number;
  /** Whether a child may go on without its parent. */
  readonly allow_detach: boolean;
}

export interface EditSettings {
  /** Whether an edit or a patch may be placed by anything but its exact text. */
  readonly inexact: 'allow' | 'refuse';
}

/** How command lines of callers run: plain commands without a shell, or any script for bash inside the sandbox. */
export interface ShellSettings {
  readonly mode: 'strict' | 'sandboxed';
  /** What becomes of a script with parts that only running it can show. */
  readonly unseen: 'allow' | 'ask' | 'deny';
}

export interface GitSettings {
  readonly allow_push: boolean;
  /** Replacing or deleting what a remote has; protected branches stay closed. */
  readonly allow_force_push: boolean;
  /** Commits and pushes need a work tree without unstaged changes. */
  readonly require_clean_tree_for_commit: boolean;
  /** Whether the operator's ssh agent may sign commits. */
  readonly signing: 'off' | 'agent';
  /** Whether hooks of the repository run, in the sandbox of commands. */
  readonly hooks: 'off' | 'sandboxed';
  /** Every commit is signed off, unless the call says otherwise. */
  readonly signoff: boolean;
  /** Keys of repository configuration that may take effect although they run programs; `*` as wildcard. */
  readonly allow_config: readonly string[];
  /** Host → name of the variable in the operator's environment that holds its token. */
  readonly credentials: Readonly<Record<string, string>>;
}

/** What commands find inside the sandbox in addition to the system and the workspace. */
export interface SandboxSettings {
  /** Names of toolchains to show. Left out: all that are found on this machine. */
  readonly toolchains?: readonly string[];
  /** Also shown, read-only; absolute or from `~/`. */
  readonly read_only: readonly string[];
  /** Folders of programs, before those of the system; absolute or from `~/`. They are shown too. */
  readonly path: readonly string[];
  /** Package managers whose cache is kept between commands. */
  readonly caches: readonly string[];
  /** Names that `env` may set although they are refused otherwise; `*` as wildcard. */
  readonly env: readonly string[];
}

export interface SecretSettings {
  /** Blob hashes, or fingerprints of found values, that are no secrets. */
  readonly allow: readonly string[];
}

/** `normal` survives a killed process, `full` also a power cut. */
export type Durability = 'normal' | 'full';

/** How long what a state folder holds is kept; 0 for ever. */
export type WitnessSettings =
  | { readonly file: string }
  /** A ref of the workspace's own repository. */
  | { readonly git_ref: string }
  | { readonly url: string };

export interface Retention {
  readonly records_days: number;
  readonly records_max: number;
  readonly archives_days: number;
  readonly answers_days: number;
  readonly runs_days: number;
  readonly caches_days: number;
  readonly caches_max_mib: number;
}

export interface RegistryText {
  readonly text: string;
  /** Name in messages. */
  readonly file: string;
}

export interface Registry {
  readonly version: 1;
  /** Digest of the canonical document; equal content gives an equal value whatever its spelling. */
  readonly fingerprint: string;
  readonly warnings: readonly ErrorEntry[];
  /** What it was made from, widest first: narrowed by all of these, another registry allows no more than this one. */
  readonly sources: readonly RegistryText[];
  /** Dotted path with indices (`validators.3.enforcement`) → where it is written; the nearest parent that is. */
  spot(path: string): RegistrySpot | undefined;
  /** Calls that it must allow, ask about or deny. */
  readonly examples: readonly PolicyExample[];

  /** Egress: exact hosts, or `*.example.org` for subdomains. Empty: none. */
  readonly allowedDomains: readonly string[];
  /** Hosts that may be sent credentials over plain http; entries as in `allowedDomains`. */
  readonly insecureCredentials: readonly string[];
  readonly shell: ShellSettings;
  /** Strict: what may run, so none means nothing. Sandboxed: none means any program. */
  readonly shellAllow: readonly CompiledPattern[];
  /** Commands that never run, whatever else matches. */
  readonly shellDeny: readonly CompiledPattern[];
  /** Commands that need an approval. */
  readonly shellAsk: readonly CompiledPattern[];
  readonly git: GitSettings;
  readonly ast: {
    readonly language?: string;
    readonly format_on_save: boolean;
    readonly validate_on_edit: boolean;
    readonly diagnostics_wait_ms: number;
  };
  readonly validators: ReadonlyMap<string, Validator>;
  readonly commands: Readonly<Record<string, string>>;
  readonly protectedBranches: readonly string[];
  readonly testGlobs: readonly string[];
  readonly importRules: readonly JsonObject[];
  readonly branchPattern?: CompiledPattern;
  readonly secrets: SecretSettings;
  readonly tools: ReadonlyMap<string, ToolSettings>;
  readonly ceiling: CapabilityPolicy;
  /** Undefined: no approval policy; only unannotated tools and rules that ask need one. */
  readonly approvals?: ApprovalPolicy;
  readonly isolation: 'bubblewrap' | 'none';
  readonly sandbox: SandboxSettings;
  /** What an approver of a command sees. */
  readonly ask: AskMode;
  /** When what commands write becomes real. */
  readonly effects: EffectsMode;
  /** What has to be on the disk before a call is answered. */
  readonly durability: Durability;
  readonly retention: Retention;
  /** Places that are told how far the journal is. */
  readonly witness: readonly WitnessSettings[];
  /** Tools that are programs of their own, each name once. */
  readonly externalTools: readonly ExternalToolSettings[];
  /** Foreign MCP servers by the operator's name. */
  readonly mcpServers: ReadonlyMap<string, McpServerSettings>;
  /** Names or globs by profile: what MCP clients are shown. */
  readonly toolProfiles: Readonly<Record<string, readonly string[]>>;
  readonly providers: Readonly<Record<string, JsonValue>>;
  readonly limits: Limits;
  readonly budgets: Budgets;
  readonly coordinator: CoordinatorSettings;
  readonly children: ChildSettings;
  readonly edits: EditSettings;
  readonly changes: ChangeSettings;
  readonly sealedArgs: SealedArgsSettings;
}
