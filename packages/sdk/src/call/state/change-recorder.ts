/** What one call changed, path by path, with the content that was there: becomes the call's change set. */
import { isToolError } from '@tool-runtime/protocol';
import {
  ABSENT,
  type Capture,
  type PathChange,
  type PathState,
  sameState,
  type WorkspaceChanges,
} from '../../changes/change-set.ts';
import type { ChangeWatch, FileChange, FileSnapshot, Workspace } from '../../contracts/workspace.ts';
import { missingFolders } from './undo-change.ts';

/** More files than this, or more bytes in them, are not watched: the recovery point has them. */
const MAX_WATCHED = 1000;
const MAX_WATCHED_BYTES = 64 * 1024 * 1024;
/** New content above this is kept only when it is replaced. */
const MAX_NEW_BYTES = 1024 * 1024;

export class ChangeRecorder {
  readonly #changes: WorkspaceChanges;
  readonly #paths = new Map<string, { readonly before: PathState; after: PathState }>();
  /** By the name the session has for it. */
  readonly #watched = new Map<string, { readonly location: string; readonly before: PathState }>();
  #watchedBytes = 0;

  constructor(changes: WorkspaceChanges) {
    this.#changes = changes;
  }

  get paths(): readonly PathChange[] {
    return [...this.#paths]
      .map(([path, { before, after }]) => ({ path, before, after }))
      .filter(({ before, after }) => !sameState(before, after));
  }

  /** For a write through the workspace: no look at the file but the one that the write takes anyway. */
  watchWrite(bytes: Uint8Array): { readonly watch: ChangeWatch; done(change: FileChange): void } {
    const pieces: Uint8Array[] = [];
    let location = '';
    let made: Parameters<ChangeWatch['at']>[1] = [];
    return {
      watch: {
        at: (where, folders) => {
          location = where;
          made = folders;
        },
        piece: (piece) => void pieces.push(Buffer.from(piece)),
        whole: (content) => void pieces.push(content),
      },
      done: ({ before, after }) => {
        const { store } = this.#changes;
        if (before?.sha256 != null)
          store.keepBytes(before.sha256, pieces.length === 1 ? (pieces[0] ?? bytes) : Buffer.concat(pieces));
        if (after?.sha256 != null && bytes.length <= MAX_NEW_BYTES) store.keepBytes(after.sha256, bytes);
        for (const { path, mode } of made) this.note(path, ABSENT, { kind: 'folder', mode });
        this.note(location, stateOf(before), stateOf(after));
      },
    };
  }

  /** For everything else: a look at the names before and after. `keeps`: whose content is needed to take it back. */
  async around<T>(
    workspace: Workspace,
    names: readonly string[],
    { keeps, act }: { readonly keeps: readonly string[]; act(): T | Promise<T> },
  ): Promise<T> {
    const before: (Capture | undefined)[] = [];
    const folders = new Set<string>();
    for (const name of names) {
      before.push(await this.#look(name, keeps.includes(name)));
      for (const folder of await missingFolders(workspace, name)) folders.add(folder);
    }
    const done = await act();
    for (const folder of folders) {
      const made = await this.#look(folder, false);
      const state = made?.states.get(made.location);
      if (made !== undefined && state !== undefined) this.note(made.location, ABSENT, state);
    }
    for (const [at, name] of names.entries()) this.#compare(before[at], await this.#look(name, false));
    return done;
  }

  /** For files that a program is about to change. A look now, and another one with `settle`. */
  async watch(names: readonly string[]): Promise<void> {
    for (const name of names) {
      if (this.#watched.has(name)) continue;
      const seen = this.#isFull(names) ? undefined : await this.#look(name, true, true);
      const before = seen?.states.get(seen.location) ?? ABSENT;
      if (seen === undefined || before.kind === 'folder') continue;
      this.#watchedBytes += before.kind === 'file' ? before.size : 0;
      this.#watched.set(name, { location: seen.location, before });
    }
    if (this.#isFull(names)) this.#watched.clear();
  }

  #isFull(names: readonly string[]): boolean {
    return names.length > MAX_WATCHED || this.#watchedBytes > MAX_WATCHED_BYTES;
  }

  async settle(): Promise<void> {
    for (const [name, { location, before }] of this.#watched) {
      const after = await this.#look(name, true, true);
      // The same name can be elsewhere by now, behind another link.
      if (after?.location === location) this.note(location, before, after.states.get(location) ?? ABSENT);
    }
    this.#watched.clear();
  }

  /** What cannot be looked at is not in the change set; the change itself is made or refused as ever. */
  async #look(name: string, keep: boolean, alone = false): Promise<Capture | undefined> {
    try {
      return await this.#changes.capture(name, { keep, alone });
    } catch (thrown) {
      if (isToolError(thrown)) return undefined;
      throw thrown;
    }
  }

  #compare(before: Capture | undefined, after: Capture | undefined): void {
    if (before === undefined || after === undefined) return;
    for (const path of new Set([...before.states.keys(), ...after.states.keys()])) {
      this.note(path, before.states.get(path) ?? ABSENT, after.states.get(path) ?? ABSENT);
    }
  }

  note(path: string, before: PathState, after: PathState): void {
    const known = this.#paths.get(path);
    if (known === undefined) this.#paths.set(path, { before, after });
    else known.after = after;
  }
}

function stateOf(snapshot: FileSnapshot | null): PathState {
  if (snapshot === null || snapshot.sha256 === null) return ABSENT;
  return { kind: 'file', digest: snapshot.sha256, size: snapshot.size, mode: snapshot.mode };
}
