/**
 * The engine behind the tools and rules of one runtime. Every part is loaded and made when somebody first needs it, so
 * that a runtime nobody asks about code holds none of it.
 */
import { homedir } from 'node:os';
import { join } from 'node:path';
import type { AstPorts, ChangeSet, FileChange } from '@tool-runtime/sdk';
import type { CodeIndex } from '../contracts/code-index-contract.ts';
import type { SessionMemory } from '../edit/session-memory.ts';
import { forgetFailed } from '../grammar/forget-failed.ts';
import type { LanguageFinder } from '../index/language-finder.ts';
import type { InspectedFile, InspectServices } from '../inspect/inspect-changes.ts';
import type { LspManager } from '../lsp/language-servers.ts';
import type { Engine } from '../symbols/engine.ts';
import type { AstOptions } from './ast-options.ts';
import { coveredNames } from './covered-names.ts';
import type { ServerNews } from './server-news.ts';

export interface CodeServices extends InspectServices {
  readonly ports: AstPorts;
  /** Whether files of this name are in a known language. Loads no parser. */
  covers(path: string): boolean;
  index(): Promise<CodeIndex>;
  /** For what is not the work tree's content: the index has parsers of its own. */
  engine(): Promise<Engine>;
  /** What ids that were handed out meant. */
  memory(): Promise<SessionMemory>;
  /** Servers that know every change there was until now. */
  servers(signal?: AbortSignal): Promise<LspManager>;
  /** The servers without a look for changes; undefined as long as none was asked for. */
  runningServers(): Promise<LspManager | undefined>;
  /** Brings index and servers in line; what nobody has made yet reads the files when it is made. */
  follow(changes: readonly FileChange[], signal: AbortSignal): Promise<void>;
  /** Looks for changes nobody reported. */
  catchUp(signal?: AbortSignal): Promise<void>;
  close(): Promise<void>;
}

/** How tools and rules reach the services of the runtime that opened them. */
export type UseServices = () => CodeServices;

export function createCodeServices(ports: AstPorts, options: AstOptions = {}): CodeServices {
  return new LazyServices(ports, options);
}

const FOLDER = 'ast';

class LazyServices implements CodeServices {
  readonly ports: AstPorts;
  readonly covers = coveredNames();
  readonly inspections = new WeakMap<ChangeSet, Promise<readonly InspectedFile[]>>();
  readonly #options: AstOptions;
  #index: Promise<CodeIndex> | undefined;
  #memory: Promise<SessionMemory> | undefined;
  #languages: Promise<LanguageFinder> | undefined;
  #engine: Promise<Engine> | undefined;
  #servers: Promise<ServedNews> | undefined;

  constructor(ports: AstPorts, options: AstOptions) {
    this.ports = ports;
    this.#options = options;
  }

  index(): Promise<CodeIndex> {
    this.#index ??= forgetFailed(this.#openIndex(), () => {
      this.#index = undefined;
    });
    return this.#index;
  }

  languages(): Promise<LanguageFinder> {
    this.#languages ??= forgetFailed(
      import('../index/language-finder.ts').then(({ createLanguageFinder }) =>
        createLanguageFinder(this.ports.workspace),
      ),
      () => {
        this.#languages = undefined;
      },
    );
    return this.#languages;
  }

  engine(): Promise<Engine> {
    this.#engine ??= forgetFailed(
      import('../symbols/engine.ts').then(({ createEngine }) => createEngine()),
      () => {
        this.#engine = undefined;
      },
    );
    return this.#engine;
  }

  memory(): Promise<SessionMemory> {
    this.#memory ??= forgetFailed(
      import('../edit/session-memory.ts').then((module) => new module.SessionMemory()),
      () => {
        this.#memory = undefined;
      },
    );
    return this.#memory;
  }

  async servers(signal?: AbortSignal): Promise<LspManager> {
    this.#servers ??= forgetFailed(this.#openServers(), () => {
      this.#servers = undefined;
    });
    const { servers, news } = await this.#servers;
    await news.catchUp(signal);
    return servers;
  }

  async runningServers(): Promise<LspManager | undefined> {
    return (await this.#servers)?.servers;
  }

  async follow(changes: readonly FileChange[], signal: AbortSignal): Promise<void> {
    await (await this.#index)?.refresh(changes, signal);
    await (await this.#servers)?.news.tell(changes);
  }

  async catchUp(signal?: AbortSignal): Promise<void> {
    const served = await this.#servers;
    if (served !== undefined) await served.news.catchUp(signal);
    else if (this.#index !== undefined) await (await this.#index).catchUp(signal);
  }

  async close(): Promise<void> {
    const served = await this.#servers?.catch(() => undefined);
    await served?.servers.close();
    await (await this.#index?.catch(() => undefined))?.close();
    await (await this.#engine?.catch(() => undefined))?.delete();
  }

  async #openIndex(): Promise<CodeIndex> {
    const { createCodeIndex } = await import('../index/code-index.ts');
    const { workers, inMemory = false } = this.#options;
    return createCodeIndex({
      workspace: this.ports.workspace,
      folder: join(this.ports.state, FOLDER),
      readOnly: inMemory,
      ...(workers === undefined ? {} : { workers }),
    });
  }

  async #openServers(): Promise<ServedNews> {
    const [{ createLspManager }, { resolveProviders }, { ServerNews }] = await Promise.all([
      import('../lsp/language-servers.ts'),
      import('../lsp/resolve-providers.ts'),
      import('./server-news.ts'),
    ]);
    const { commands, workspace, root, registry, state } = this.ports;
    const { maxServers } = this.#options;
    const servers = createLspManager({
      ...{ commands, workspace, root },
      providers: resolveProviders(registry.providers),
      privatePaths: [state, homedir()],
      ...(maxServers === undefined ? {} : { maxServers }),
    });
    return { servers, news: new ServerNews(servers, await this.index()) };
  }
}

interface ServedNews {
  readonly servers: LspManager;
  readonly news: ServerNews;
}
