/**
 * The engine of the tools and rules of one runtime. Every part is loaded and made when it is first needed, so
 * that a runtime without questions about code holds none of it.
 */
import { readFileSync } from 'node:fs';
import { homedir } from 'node:os';
import { join } from 'node:path';
import { once } from '@tool-runtime/protocol/internal';
import type { AstIndex, AstPorts, ChangeSet, FileChange, StagedAstPorts } from '@tool-runtime/sdk';
import type { CodeIndex } from '../contracts/code-index-contract.ts';
import { inPackage } from '../contracts/package-folder.ts';
import type { SessionMemory } from '../edit/session-memory.ts';
import type { InspectedFile, InspectServices } from '../inspect/inspect-changes.ts';
import type { LspManager } from '../lsp/language-servers.ts';
import type { DiagnosticWatcher } from '../lsp/watch-diagnostics.ts';
import { LANGUAGE_IDS } from '../profile/catalog.ts';
import { createLanguageDetector, type LanguageDetector, type LanguageNames } from '../profile/detect-language.ts';
import type { Engine } from '../symbols/engine.ts';
import type { AstOptions } from './ast-options.ts';
import { FirstIndex } from './first-index.ts';
import type { ServerNews } from './server-news.ts';

export interface CodeServices extends InspectServices {
  readonly ports: AstPorts;
  /** Whether files of this name are in a known language. Loads no parser. */
  covers(path: string): boolean;
  index(): Promise<CodeIndex>;
  readonly first: FirstIndex;
  /** How long a question waits for the first index. */
  readonly firstAnswerMs: number;
  /** For what is not the work tree's content: the index has parsers of its own. */
  engine(): Promise<Engine>;
  /** What ids that were given out meant. */
  memory(): Promise<SessionMemory>;
  /** Servers that know every change there was until now. */
  servers(signal?: AbortSignal): Promise<LspManager>;
  /** The servers without a look for changes; undefined as long as none was asked for. */
  runningServers(): Promise<LspManager | undefined>;
  /** What the edits of this runtime were told about problems. */
  diagnostics(): Promise<DiagnosticWatcher>;
  /** Brings index and servers in line; what was not made yet reads the files when it is made. */
  follow(changes: readonly FileChange[], signal: AbortSignal): Promise<void>;
  /** Looks for changes that were not reported. */
  catchUp(signal?: AbortSignal): Promise<void>;
  close(): Promise<void>;
}

/** How tools and rules reach the services of the runtime that opened them; tools those of the transaction they are called in. */
export type UseServices = (context?: { readonly ast?: AstIndex | undefined }) => CodeServices;

export function createCodeServices(ports: AstPorts, options: AstOptions = {}): CodeServices {
  return new LazyServices(ports, options);
}

/**
 * Over the tree of a transaction: an index of its own, in memory; programs run on the tree, and ids mean what they
 * meant outside.
 */
export function stagedServices(
  services: CodeServices,
  { workspace, tree }: StagedAstPorts,
  options: AstOptions,
): CodeServices {
  const { commands, ...ports } = services.ports;
  const onTree: AstPorts['commands'] = { start: (request) => commands.start({ ...request, tree }) };
  return new LazyServices({ ...ports, workspace, commands: onTree }, { ...options, inMemory: true }, services.memory);
}

const FOLDER = 'ast';
const FIRST_ANSWER_MS = 3_000;

class LazyServices implements CodeServices {
  readonly ports: AstPorts;
  readonly covers = coveredNames();
  readonly inspections = new WeakMap<ChangeSet, Promise<readonly InspectedFile[]>>();
  readonly #options: AstOptions;
  readonly index = once(() => this.#openIndex());
  readonly first = new FirstIndex();
  readonly firstAnswerMs: number;
  readonly memory: () => Promise<SessionMemory>;
  readonly languages = once(async () =>
    (await import('../index/language-finder.ts')).createLanguageFinder(this.ports.workspace),
  );
  readonly engine = once(async () => (await import('../symbols/engine.ts')).createEngine());
  readonly diagnostics = once(async () => new (await import('../lsp/watch-diagnostics.ts')).DiagnosticWatcher());
  readonly #served = once(() => this.#openServers());

  constructor(ports: AstPorts, options: AstOptions, memory = newMemory()) {
    this.ports = ports;
    this.#options = options;
    this.memory = memory;
    this.firstAnswerMs = options.firstAnswerMs ?? FIRST_ANSWER_MS;
  }

  async servers(signal?: AbortSignal): Promise<LspManager> {
    const { servers, news } = await this.#served();
    await news.catchUp(signal);
    return servers;
  }

  async runningServers(): Promise<LspManager | undefined> {
    return (await this.#served.ifMade())?.servers;
  }

  async follow(changes: readonly FileChange[], signal: AbortSignal): Promise<void> {
    await (await this.index.ifMade())?.refresh(changes, signal);
    await (await this.#served.ifMade())?.news.tell(changes);
  }

  async catchUp(signal?: AbortSignal): Promise<void> {
    const served = await this.#served.ifMade();
    if (served !== undefined) await served.news.catchUp(signal);
    else await (await this.index.ifMade())?.catchUp(signal);
  }

  async close(): Promise<void> {
    (await this.diagnostics.ifMade())?.close();
    const served = await this.#served.ifMade()?.catch(() => undefined);
    await served?.servers.close();
    await this.first.close();
    await (await this.index.ifMade()?.catch(() => undefined))?.close();
    await (await this.engine.ifMade()?.catch(() => undefined))?.delete();
  }

  async #openIndex(): Promise<CodeIndex> {
    const { createCodeIndex } = await import('../index/code-index.ts');
    const { workers, inMemory = false } = this.#options;
    return createCodeIndex({
      workspace: this.ports.workspace,
      root: this.ports.root,
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

function newMemory(): () => Promise<SessionMemory> {
  return once(async () => new (await import('../edit/session-memory.ts')).SessionMemory());
}

interface ServedNews {
  readonly servers: LspManager;
  readonly news: ServerNews;
}

/**
 * Which file names are source code, by the languages' own lists alone.
 *
 * The call pipeline asks this of every changed file, so no parser, and no schema of profiles, is loaded for it.
 */
function coveredNames(): (path: string) => boolean {
  let detector: LanguageDetector | undefined;
  return (path) => {
    detector ??= createLanguageDetector(allNames());
    return detector.detect(path) !== undefined;
  };
}

function allNames(): LanguageNames[] {
  const folder = inPackage('languages/');
  return LANGUAGE_IDS.map((id) => {
    const text = readFileSync(new URL(`${id}/profile.json`, folder), 'utf8');
    const { detect } = JSON.parse(text) as { readonly detect: Partial<LanguageNames['detect']> };
    return { id, detect: { ext: [], names: [], shebang: [], ...detect } };
  });
}
