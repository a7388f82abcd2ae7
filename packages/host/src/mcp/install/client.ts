/** What is known of an MCP client: where it keeps its servers, and how it writes one down. */
import type { JsonObject } from '@tool-runtime/protocol';
import type { ConfigPlace } from './config-file.ts';

/** Settings of the user, or of the project folder. */
export type Scope = 'global' | 'project';

/** Where settings are kept on this machine. */
export interface Folders {
  readonly home: string;
  readonly project: string;
  readonly platform: NodeJS.Platform;
  readonly env: Readonly<Record<string, string | undefined>>;
  exists(path: string): boolean;
}

export interface ServerCommand {
  readonly command: string;
  readonly args: readonly string[];
}

export interface McpClient {
  readonly id: string;
  readonly title: string;
  readonly format: 'json' | 'toml';
  /** Key under which the servers stand. */
  readonly section: string;
  readonly usualScope: Scope;
  /** Undefined: it has no such file that may be edited; `instead` says what to do. */
  place(scope: Scope, folders: Folders): ConfigPlace | undefined;
  /** For a scope without a file. */
  instead?(command: ServerCommand, name: string): string;
  /** How its files name the folder of the project. */
  readonly projectWord: string;
  stdio(command: ServerCommand): JsonObject;
  /** The token is named, never written: TOKEN_VARIABLE of the client's own environment. */
  http(url: string): JsonObject;
  /** What the user still has to do for `http`. */
  readonly httpNote?: string;
}

export const TOKEN_VARIABLE = 'TOOL_RUNTIME_TOKEN';

export function defineClient(client: McpClient): McpClient {
  return client;
}
