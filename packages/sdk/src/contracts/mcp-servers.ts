/** A foreign MCP server as the operator mounts it: how it is reached, what of it may be used, what its tools count as. */
import type { SideEffectLevel } from './annotations.ts';

export interface McpServerSettings {
  /** Program and arguments. Neither this nor `url`: the host's server of the same name, in registries that only narrow. */
  readonly command?: readonly string[];
  readonly url?: string;
  /** First part of the names its tools get. */
  readonly prefix: string;
  /** Names or globs of its own tool names; nothing else of it is offered. */
  readonly tools: readonly string[];
  /** Names of variables that are passed on from the host's environment. */
  readonly env: readonly string[];
  /** HTTP header → name of the variable that holds its value. */
  readonly headers_env: Readonly<Record<string, string>>;
  /** How the host signs in to a server on HTTP by itself. */
  readonly client_credentials?: ClientCredentials;
  readonly timeout_ms: number;
  readonly max_output_bytes: number;
  /** What its tools count as where `levels` says nothing. */
  readonly side_effect_level: SideEffectLevel;
  /** Tool name or glob → level. An exact name wins; of several globs the most invasive. */
  readonly levels: Readonly<Record<string, SideEffectLevel>>;
  /** Tool name or glob → arguments that hold workspace paths. */
  readonly path_args: Readonly<Record<string, readonly string[]>>;
  /** Tool name or glob → arguments that hold URLs the tool will contact. */
  readonly url_args: Readonly<Record<string, readonly string[]>>;
  /** Workspace-relative folder to start in. */
  readonly cwd: string;
  /** Undefined: as for commands. */
  readonly isolation?: 'bubblewrap' | 'none';
  /** Absolute paths shown to it, read-only, in addition to the system's folders and the workspace. */
  readonly read_paths: readonly string[];
}

/** The client credentials grant of OAuth. */
export interface ClientCredentials {
  /** The one authorization server that is sent the credential. */
  readonly issuer: string;
  readonly client_id: string;
  /** Name of the variable that holds the secret. */
  readonly secret_env?: string;
  /** Name of the variable that holds a private key (PEM). */
  readonly private_key_env?: string;
  readonly alg: string;
  readonly scope?: string;
  /** Binds tokens to a key of the host process. */
  readonly dpop: boolean;
}
