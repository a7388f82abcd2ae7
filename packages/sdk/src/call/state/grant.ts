/**
 * What a tool may change, for as long as its call lasts.
 *
 * A handler that was left behind may try to write long after its locks went to others. Once the grant is revoked, every
 * change it begins is refused; those that are under way can be waited for.
 */
import type { ToolError } from '@tool-runtime/protocol';
import type { Workspace } from '../../contracts/workspace.ts';

export class Grant {
  #refusal: (() => ToolError) | undefined;
  readonly #underWay = new Set<Promise<unknown>>();

  get isIdle(): boolean {
    return this.#underWay.size === 0;
  }

  /** The error is built only for a change that comes too late. */
  revoke(refusal: () => ToolError): void {
    this.#refusal ??= refusal;
  }

  /** Resolves when no change is under way. */
  async idle(): Promise<void> {
    while (this.#underWay.size > 0) await Promise.allSettled([...this.#underWay]);
  }

  /** One change: refused after `revoke`, counted while it runs. */
  use<T>(change: () => T): T {
    if (this.#refusal !== undefined) throw this.#refusal();
    const running = change();
    if (running instanceof Promise) {
      this.#underWay.add(running);
      const ended = (): void => void this.#underWay.delete(running);
      running.then(ended, ended);
    }
    return running;
  }

  /** The workspace as long as the grant holds; reading needs none. */
  workspace(inner: Workspace): Workspace {
    return {
      stat: (path) => inner.stat(path),
      readFile: (path, options) => inner.readFile(path, options),
      readDirectory: (path) => inner.readDirectory(path),
      list: (query) => inner.list(query),
      search: (query) => inner.search(query),
      lockKeys: (path) => inner.lockKeys(path),
      requireAllowed: (path, access, links) => inner.requireAllowed(path, access, links),
      writeFile: (path, bytes, options) => this.use(() => inner.writeFile(path, bytes, options)),
      makeDirectory: (path) => this.use(() => inner.makeDirectory(path)),
      removeFile: (path, options) => this.use(() => inner.removeFile(path, options)),
      move: (from, to, options) => this.use(() => inner.move(from, to, options)),
      copy: (from, to, options) => this.use(() => inner.copy(from, to, options)),
      remove: (path, options) => this.use(() => inner.remove(path, options)),
    };
  }
}
