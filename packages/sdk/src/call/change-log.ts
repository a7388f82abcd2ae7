/**
 * What a call did to files, kept by the workspace it is handed, so that no tool can forget to report.
 *
 * When an "after" rule may still refuse the change, the old bytes are read before each write and can be put back.
 */
import type { FileChange, Workspace } from '../contracts/workspace.ts';

interface Original {
  readonly path: string;
  /** Null: the file did not exist. */
  readonly bytes: Uint8Array | null;
  readonly mode: number;
}

export class ChangeLog {
  readonly changes: FileChange[] = [];
  readonly #originals: Original[] = [];
  readonly #workspace: Workspace;
  readonly #keepOriginals: boolean;

  constructor(workspace: Workspace, options: { readonly keepOriginals: boolean }) {
    this.#workspace = workspace;
    this.#keepOriginals = options.keepOriginals;
  }

  /** The workspace as the tool sees it: every mutation lands in `changes`. */
  tracked(): Workspace {
    const inner = this.#workspace;
    return {
      stat: (path) => inner.stat(path),
      readFile: (path, options) => inner.readFile(path, options),
      lockKeys: (path) => inner.lockKeys(path),
      removeFile: async (path) => {
        if (this.#keepOriginals) await this.#keep(path);
        const change = await inner.removeFile(path);
        if (change !== null) this.changes.push(change);
        return change;
      },
      writeFile: async (path, bytes, options) => {
        if (this.#keepOriginals) await this.#keep(path);
        const change = await inner.writeFile(path, bytes, options);
        this.changes.push(change);
        return change;
      },
    };
  }

  /** Puts the old bytes and modes back, newest change first. */
  async rollBack(): Promise<void> {
    for (const original of this.#originals.splice(0).reverse()) {
      if (original.bytes === null) await this.#workspace.removeFile(original.path);
      else {
        await this.#workspace.writeFile(original.path, original.bytes, { mode: original.mode, forceMode: true });
      }
    }
  }

  async #keep(path: string): Promise<void> {
    const stat = await this.#workspace.stat(path);
    if (stat === null) {
      this.#originals.push({ path, bytes: null, mode: 0 });
      return;
    }
    const content = await this.#workspace.readFile(path);
    this.#originals.push({ path, bytes: content.bytes, mode: content.mode });
  }
}
