/**
 * What a call did to files, kept by the workspace it is handed, so that no tool can forget to report.
 *
 * When an "after" rule may still refuse the change, what each change needs to be taken back is kept beside it.
 */
import { ToolError } from '@tool-runtime/protocol';
import type { PathChange } from '../../changes/change-set.ts';
import type { FileChange, MaybePromise, TreeChange, Workspace } from '../../contracts/workspace.ts';
import type { ChangeRecorder } from './change-recorder.ts';
import { type Original, originalOf, type Undo, undoArrival, undoMove, undoRemoval } from './undo-change.ts';

interface Step {
  readonly path: string;
  /** Undefined: it cannot be taken back. */
  readonly undo: Undo | undefined;
}

export class ChangeLog {
  readonly changes: FileChange[] = [];
  /** Those of `changes` that went through the workspace: only they can be taken back, so only they are judged afterwards. */
  readonly authored: FileChange[] = [];
  readonly #steps: Step[] = [];
  readonly #keepOriginals: boolean;

  /** Undefined: the call leaves no change set. */
  readonly recorder: ChangeRecorder | undefined;

  constructor(options: { readonly keepOriginals: boolean; readonly recorder?: ChangeRecorder | undefined }) {
    this.#keepOriginals = options.keepOriginals;
    this.recorder = options.recorder;
  }

  /** The workspace as the tool sees it: every mutation lands in `changes`. */
  tracked(inner: Workspace): Workspace {
    return {
      stat: (path) => inner.stat(path),
      readFile: (path, options) => inner.readFile(path, options),
      readDirectory: (path) => inner.readDirectory(path),
      list: (query) => inner.list(query),
      search: (query) => inner.search(query),
      lockKeys: (path) => inner.lockKeys(path),
      requireAllowed: (path, access, links) => inner.requireAllowed(path, access, links),
      writeFile: async (path, bytes, options) => {
        const original = await this.#original(inner, path, 'through');
        const noted = this.recorder?.watchWrite(bytes);
        const watch = noted === undefined ? {} : { watch: noted.watch };
        const change = await inner.writeFile(path, bytes, { ...options, ...watch });
        noted?.done(change);
        this.#note([change], path, original && undoArrival(inner, path, original));
        return change;
      },
      makeDirectory: async (path) => {
        const original = await this.#original(inner, path, 'through');
        const change = await this.#recorded(inner, [path], [], () => inner.makeDirectory(path));
        if (change !== null) this.#note([change], path, original && undoArrival(inner, path, original));
        return change;
      },
      removeFile: async (path, options) => {
        const original = await this.#original(inner, path, 'themselves');
        const change = await this.#recorded(inner, [path], [path], () => inner.removeFile(path, options));
        if (change !== null) this.#note([change], path, original && undoRemoval(inner, path, original));
        return change;
      },
      ...this.#trackedTrees(inner),
    };
  }

  #trackedTrees(inner: Workspace): Pick<Workspace, 'move' | 'copy' | 'remove'> {
    const noted = <T extends TreeChange | null>(done: T, path: string, undo: Undo | undefined): T => {
      if (done !== null && done.changes.length > 0) this.#note(done.changes, path, undo);
      return done;
    };
    return {
      move: async (from, to, options) => {
        const original = await this.#original(inner, to, 'themselves');
        const undo = original && undoMove(inner, { from, to }, original);
        const act = () => inner.move(from, to, options);
        return noted(await this.#recorded(inner, [from, to], [to], act), to, undo);
      },
      copy: async (from, to, options) => {
        const original = await this.#original(inner, to, 'themselves');
        const undo = original && undoArrival(inner, to, original);
        const act = () => inner.copy(from, to, options);
        return noted(await this.#recorded(inner, [to], [to], act), to, undo);
      },
      remove: async (path, options) => {
        const original = await this.#original(inner, path, 'themselves');
        const act = () => inner.remove(path, options);
        const done = await this.#recorded(inner, [path], [path], act);
        return noted(done, path, original && undoRemoval(inner, path, original));
      },
    };
  }

  /** For changes that were made together and can be taken back together. */
  committed(changes: readonly FileChange[], paths: readonly PathChange[], undo: Undo): void {
    for (const { path, before, after } of paths) this.recorder?.note(path, before, after);
    this.#note(changes, changes[0]?.path ?? '', undo);
  }

  /** Takes every change back, newest first; throws before touching anything when one of them cannot be. */
  async rollBack(): Promise<void> {
    const steps = this.#steps.splice(0).reverse();
    const undos = steps.map(({ path, undo }) => {
      if (undo === undefined) throw cannotUndo(path);
      return undo;
    });
    for (const undo of undos) await undo();
  }

  /** `kept`: those of the names whose content is needed to take the change back. */
  #recorded<T>(
    inner: Workspace,
    names: readonly string[],
    kept: readonly string[],
    act: () => MaybePromise<T>,
  ): MaybePromise<T> {
    return this.recorder === undefined ? act() : this.recorder.around(inner, names, { keeps: kept, act });
  }

  #note(changes: readonly FileChange[], path: string, undo: Undo | undefined): void {
    this.changes.push(...changes);
    this.authored.push(...changes);
    if (this.#keepOriginals) this.#steps.push({ path, undo });
  }

  #original(workspace: Workspace, path: string, links: 'through' | 'themselves'): MaybePromise<Original | undefined> {
    return this.#keepOriginals ? originalOf(workspace, path, { links }) : undefined;
  }
}

function cannotUndo(path: string): ToolError {
  return new ToolError('E_FILE_IO', `Change cannot be taken back: ${path}`, {
    path,
    details: { reason: 'not_kept', next: 'Restore folders and links from version control or a backup' },
  });
}
