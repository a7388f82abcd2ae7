/**
 * All language servers of one workspace: which one serves a file, and one bus that tells them what changed.
 *
 * A server is rooted at the outermost folder on the way to the file that bears one of its markers: an inner one would
 * hide the uses in sibling folders. Only a few processes run at once; the longest idle makes room.
 */
import { isToolError, ToolError } from '@tool-runtime/protocol';
import type { CommandRunner, Workspace } from '@tool-runtime/sdk';
import type { Limits } from './deadline.ts';
import { createSystemTimers, type LspTimers } from './deadline.ts';
import type { LspProvider } from './known-providers.ts';
import { LanguageServer } from './language-server.ts';
import type { ChangedPath } from './open-documents.ts';
import { processMemory } from './process-memory.ts';
import { badRequest } from './server-errors.ts';
import type { ServerState } from './server-life.ts';
import { languageId, type SessionSetting } from './server-session.ts';
import { WorkspaceUris } from './workspace-uris.ts';

export interface LspManagerOptions {
  /** Starts processes in the sandbox of the session. */
  readonly commands: CommandRunner;
  readonly workspace: Workspace;
  /** Absolute path of the workspace, links resolved: as commands see it. */
  readonly root: string;
  /** In order of preference; see `resolveProviders`. */
  readonly providers: readonly LspProvider[];
  readonly timers?: LspTimers;
  /** Folders of the host that must not be named in any text: the operator's tool chains, home. */
  readonly privatePaths?: readonly string[];
  /** Processes at once. 4 by default. */
  readonly maxServers?: number;
  readonly memoryOf?: (pids: readonly number[]) => number | undefined;
}

export interface ServerListing {
  readonly provider: string;
  readonly folder: string;
  readonly state: ServerState;
}

export interface LspManager {
  readonly providers: readonly LspProvider[];
  /** Whether some provider takes files of this name. */
  covers(path: string): boolean;
  /** The first server for the file that starts. Throws the first one's E_POLICY or E_INTERNAL when none does. */
  serverFor(path: string, limits?: Limits): Promise<LanguageServer>;
  /** A server by its provider's name, rooted for `path`; not started yet. E_POLICY when it is not configured. */
  serverOf(provider: string, path?: string): Promise<LanguageServer>;
  /** Every write, move and deletion, and every change from outside that was noticed. */
  changed(changes: readonly ChangedPath[]): Promise<void>;
  list(): readonly ServerListing[];
  close(): Promise<void>;
}

const MAX_SERVERS = 4;

export function createLspManager(options: LspManagerOptions): LspManager {
  return new LanguageServers(options);
}

class LanguageServers implements LspManager {
  readonly providers: readonly LspProvider[];
  readonly #options: LspManagerOptions;
  readonly #uris: WorkspaceUris;
  readonly #setting: Omit<SessionSetting, 'provider' | 'folder' | 'signal'>;
  readonly #servers = new Map<string, LanguageServer>();
  #isClosed = false;

  constructor(options: LspManagerOptions) {
    const { commands, workspace, timers = createSystemTimers(), memoryOf = processMemory } = options;
    this.#options = options;
    this.providers = options.providers;
    this.#uris = new WorkspaceUris(options);
    this.#setting = { commands, workspace, uris: this.#uris, timers, memoryOf };
  }

  covers(path: string): boolean {
    return this.providers.some((provider) => languageId(provider, path) !== undefined);
  }

  async serverFor(given: string, limits: Limits = {}): Promise<LanguageServer> {
    const path = this.#uris.clean(given);
    const candidates = this.providers.filter((provider) => languageId(provider, path) !== undefined);
    let first: unknown;
    for (const provider of candidates) {
      const server = this.#server(provider, await this.#rootFor(provider, path));
      try {
        await this.#makeRoom(server);
        await server.start(limits);
        return server;
      } catch (thrown) {
        // Time and cancellation are the caller's own limits; another provider would not help.
        if (!isToolError(thrown) || thrown.code === 'E_TIMEOUT' || limits.signal?.aborted === true) throw thrown;
        first ??= thrown;
      }
    }
    throw first ?? noServer(path);
  }

  async serverOf(name: string, path?: string): Promise<LanguageServer> {
    const provider = this.providers.find((each) => each.name === name);
    if (provider === undefined) throw notConfigured(name, this.providers);
    const server = this.#server(
      provider,
      path === undefined ? '.' : await this.#rootFor(provider, this.#uris.clean(path)),
    );
    await this.#makeRoom(server);
    return server;
  }

  async changed(changes: readonly ChangedPath[]): Promise<void> {
    if (changes.length === 0) return;
    await Promise.all([...this.#servers.values()].map((server) => server.changed(changes)));
  }

  list(): readonly ServerListing[] {
    return [...this.#servers.values()].map(({ provider, folder, state }) => ({ provider, folder, state }));
  }

  async close(): Promise<void> {
    this.#isClosed = true;
    await Promise.all([...this.#servers.values()].map((server) => server.close()));
  }

  #server(provider: LspProvider, folder: string): LanguageServer {
    if (this.#isClosed) throw new ToolError('E_INTERNAL', 'Language servers are closed');
    const key = `${provider.name}\0${folder}`;
    const known = this.#servers.get(key);
    if (known !== undefined) return known;
    const server = new LanguageServer({ ...this.#setting, provider, folder });
    this.#servers.set(key, server);
    return server;
  }

  async #rootFor({ rootMarkers }: LspProvider, path: string): Promise<string> {
    const names = path.split('/').slice(0, -1);
    for (let depth = 0; depth <= names.length; depth++) {
      const folder = names.slice(0, depth).join('/');
      for (const marker of rootMarkers) {
        const at = folder === '' ? marker : `${folder}/${marker}`;
        if ((await this.#setting.workspace.stat(at)) !== null) return folder === '' ? '.' : folder;
      }
    }
    return '.';
  }

  async #makeRoom(wanted: LanguageServer): Promise<void> {
    if (wanted.state !== 'stopped') return;
    const running = [...this.#servers.values()].filter((server) => server !== wanted && server.state !== 'stopped');
    if (running.length < (this.#options.maxServers ?? MAX_SERVERS)) return;
    const [idle] = running
      .filter(({ idleSince }) => idleSince !== undefined)
      .sort((a, b) => (a.idleSince ?? 0) - (b.idleSince ?? 0));
    if (idle === undefined) throw allBusy(running.length);
    await idle.stop();
  }
}

function noServer(path: string): ToolError {
  return badRequest(`No language server takes files of this kind: ${path}`, 'configure a provider for it', path);
}

function notConfigured(name: string, providers: readonly LspProvider[]): ToolError {
  const shown = name.length > 80 ? `${name.slice(0, 80)}…` : name;
  return new ToolError('E_POLICY', `Provider is not configured: ${shown}`, {
    path: 'provider',
    details: {
      kind: 'policy_denial',
      retry: 'host_configuration_needed',
      reason: 'not_configured',
      next: `use one of: ${providers.map((provider) => provider.name).join(', ')}`,
    },
  });
}

function allBusy(count: number): ToolError {
  return new ToolError('E_TIMEOUT', 'All language servers are busy', {
    details: { kind: 'timeout', retry: 'retryable', reason: 'servers_busy', running: count, next: 'try again later' },
  });
}
