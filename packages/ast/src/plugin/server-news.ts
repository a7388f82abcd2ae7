/**
 * Tells language servers what changed: what the runtime reports, and what the index finds changed by comparing.
 *
 * Servers do not watch files in the sandbox. Without these notices they answer from what they read when they started.
 */
import type { FileChange } from '@tool-runtime/sdk';
import type { CodeIndex } from '../contracts/code-index-contract.ts';
import type { LspManager } from '../lsp/language-servers.ts';
import type { ChangedPath } from '../lsp/open-documents.ts';

type Kind = ChangedPath['kind'];

export class ServerNews {
  readonly #servers: Pick<LspManager, 'changed'>;
  readonly #index: CodeIndex;
  /** Digest of every indexed file as the servers were last told. */
  #told: ReadonlyMap<string, string>;

  constructor(servers: Pick<LspManager, 'changed'>, index: CodeIndex) {
    this.#servers = servers;
    this.#index = index;
    this.#told = snapshot(index);
  }

  /** Changes the index already knows. Files it does not hold, such as project files of a build, are told as reported. */
  async tell(changes: readonly FileChange[]): Promise<void> {
    const news = new Map<string, Kind>();
    for (const { path, before, after } of changes) {
      if (after !== null) news.set(path, before === null && news.get(path) !== 'deleted' ? 'created' : 'changed');
      else if (before !== null) news.set(path, 'deleted');
    }
    for (const [path, kind] of this.#differences()) news.set(path, kind);
    await this.#send(news);
  }

  async catchUp(signal?: AbortSignal): Promise<void> {
    await this.#index.catchUp(signal);
    await this.#send(this.#differences());
  }

  #differences(): Map<string, Kind> {
    const now = snapshot(this.#index);
    const news = new Map<string, Kind>();
    for (const [path, digest] of now) {
      const told = this.#told.get(path);
      if (told !== digest) news.set(path, told === undefined ? 'created' : 'changed');
    }
    for (const path of this.#told.keys()) if (!now.has(path)) news.set(path, 'deleted');
    this.#told = now;
    return news;
  }

  async #send(news: ReadonlyMap<string, Kind>): Promise<void> {
    if (news.size > 0) await this.#servers.changed([...news].map(([path, kind]) => ({ path, kind })));
  }
}

function snapshot(index: CodeIndex): ReadonlyMap<string, string> {
  return new Map(index.files().map((path) => [path, index.fileRow(path)?.sha256 ?? '']));
}
