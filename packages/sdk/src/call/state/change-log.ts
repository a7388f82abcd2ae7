/**
 * What a call changed (`ChangeLog`) and until when it may change anything (`Grant`). Both wrap the workspace that the
 * tool is given, so no tool can forget to report a change or go on after the end of its call.
 */
import { ToolError } from '@tool-runtime/protocol';
import type { PathChange, WorkspaceChanges } from '../../changes/change-set.ts';
import type { EffectLedger } from '../../contracts/effect-ledger.ts';
import {
  type FileChange,
  type MaybePromise,
  readingPart,
  type TreeChange,
  type Workspace,
} from '../../contracts/workspace.ts';
import { ChangeRecorder } from './change-recorder.ts';
import { type Original, originalOf, type Undo, undoArrival, undoMove, undoRemoval } from './undo-change.ts';

interface Step {
  readonly path: string;
  /** Undefined: it cannot be taken back. */
  readonly undo: Undo | undefined;
}

/** Where an "after" rule may still refuse a change, the log also keeps what is needed to undo it. */
export class ChangeLog {
  readonly changes: FileChange[] = [];
  /**
   * Those of `changes` that went through the workspace: only they can be taken back, so only they are judged
   * afterwards.
   */
  readonly authored: FileChange[] = [];
  readonly #steps: Step[] = [];
  readonly #keepOriginals: boolean;
  readonly #recordIn: (() => WorkspaceChanges) | undefined;
  #recorder: ChangeRecorder | undefined;
  #recovery: string | undefined;

  /** `recordIn`: where the change set of the call will be kept; left out: it leaves none. */
  constructor(options: { readonly keepOriginals: boolean; readonly recordIn?: (() => WorkspaceChanges) | undefined }) {
    this.#keepOriginals = options.keepOriginals;
    this.#recordIn = options.recordIn;
  }

  /** The recovery point that takes the call back. */
  get recovery(): string | undefined {
    return this.#recovery;
  }

  /** Looks at files that git is about to change, and again when the call has ended (`settle`). */
  async watch(paths: readonly string[], recovery: string): Promise<void> {
    this.#recovery ??= recovery;
    await this.#recording?.watch(paths);
  }

  async settle(): Promise<void> {
    await this.#recorder?.settle();
  }

  /** What the change set of the call will hold. */
  get paths(): readonly PathChange[] {
    return this.#recorder === undefined ? [] : this.#recorder.paths;
  }

  /** Made with the first change. Undefined: the call leaves no change set. */
  get #recording(): ChangeRecorder | undefined {
    if (this.#recordIn !== undefined) this.#recorder ??= new ChangeRecorder(this.#recordIn());
    return this.#recorder;
  }

  /** The workspace as the tool sees it: every mutation lands in `changes`. */
  tracked(inner: Workspace): Workspace {
    return {
      ...readingPart(inner),
      writeFile: async (path, bytes, options) => {
        const original = await this.#original(inner, path, 'through');
        const noted = this.#recording?.watchWrite(bytes);
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

  /** The id of the change set, when it is not that of the call. */
  setId: string | undefined;

  /** For changes that were judged before they were made, or are judged later. */
  judged(id: string, changes: readonly FileChange[], paths: readonly PathChange[]): void {
    this.setId = id;
    for (const { path, before, after } of paths) this.#recording?.note(path, before, after);
    this.changes.push(...changes);
  }

  /** For changes that were made together and can be taken back together. */
  committed(changes: readonly FileChange[], paths: readonly PathChange[], undo: Undo): void {
    for (const { path, before, after } of paths) this.#recording?.note(path, before, after);
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
    return this.#recording === undefined ? act() : this.#recording.around(inner, names, { keeps: kept, act });
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

/**
 * What a tool may change, for as long as its call lasts.
 *
 * A handler that ignored its deadline may try to write long after its locks went to others. Once the grant is revoked,
 * every change it begins is refused; those that are under way can be waited for.
 */
export class Grant {
  #refusal: (() => ToolError) | undefined;
  /** Made with the first change. */
  #underWay: Set<Promise<unknown>> | undefined;
  readonly #fence: Pick<EffectLedger, 'checkFence'> | undefined;

  /** `fence`: asked before each change, where other hosts may work on the same workspace. */
  constructor(fence?: Pick<EffectLedger, 'checkFence'>) {
    this.#fence = fence;
  }

  get isIdle(): boolean {
    return this.#underWay === undefined || this.#underWay.size === 0;
  }

  /** The error is built only for a change that comes too late. */
  revoke(refusal: () => ToolError): void {
    this.#refusal ??= refusal;
  }

  /** Resolves when no change is under way. */
  async idle(): Promise<void> {
    const underWay = this.#underWay ?? [];
    while (!this.isIdle) await Promise.allSettled([...underWay]);
  }

  /** One change: refused after `revoke`, counted while it runs. */
  use<T>(change: () => T): T {
    if (this.#refusal !== undefined) throw this.#refusal();
    this.#fence?.checkFence();
    const running = change();
    if (running instanceof Promise) {
      const underWay = this.#underWay ?? new Set();
      this.#underWay = underWay;
      underWay.add(running);
      const ended = (): void => void underWay.delete(running);
      running.then(ended, ended);
    }
    return running;
  }

  /** The workspace as long as the grant holds; reading needs none. */
  workspace(inner: Workspace): Workspace {
    return {
      ...readingPart(inner),
      writeFile: (path, bytes, options) => this.use(() => inner.writeFile(path, bytes, options)),
      makeDirectory: (path) => this.use(() => inner.makeDirectory(path)),
      removeFile: (path, options) => this.use(() => inner.removeFile(path, options)),
      move: (from, to, options) => this.use(() => inner.move(from, to, options)),
      copy: (from, to, options) => this.use(() => inner.copy(from, to, options)),
      remove: (path, options) => this.use(() => inner.remove(path, options)),
    };
  }
}
