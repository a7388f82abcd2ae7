/**
 * The documents one server holds open, kept in line with the disk.
 *
 * A document is opened for a request and the least recently used of twenty closed: servers keep everything about an open
 * file in memory. Operations on documents run one after the other, so that the server sees texts in the order of their
 * versions. Versions count over all documents of the process: none ever comes twice.
 */
import { isToolError, ToolError } from '@tool-runtime/protocol';
import type { Workspace } from '@tool-runtime/sdk';
import type { WorkspaceUris } from './workspace-uris.ts';

export interface ChangedPath {
  /** Workspace-relative. */
  readonly path: string;
  readonly kind: 'created' | 'changed' | 'deleted';
}

export interface OpenDocument {
  readonly path: string;
  readonly uri: string;
  readonly version: number;
}

export interface DocumentsSetting {
  readonly workspace: Pick<Workspace, 'readFile'>;
  readonly uris: WorkspaceUris;
  notify(method: string, params: unknown): void;
  languageOf(path: string): string;
  /** Files came or went that the server may know. */
  onFileSet(paths: readonly string[]): void;
  /** The server now has this document, or has it no longer. */
  onOpenOrClose(path: string): void;
  /** Some text changed, which may make any other file right or wrong. */
  onText(): void;
}

const MAX_OPEN = 20;
const MAX_BYTES = 4 * 1024 * 1024;
const CHANGE_TYPES = { created: 1, changed: 2, deleted: 3 } as const;

interface Held extends OpenDocument {
  readonly sha256: string;
}

export class OpenDocuments {
  readonly #setting: DocumentsSetting;
  /** The least recently used first. */
  readonly #open = new Map<string, Held>();
  #version = 0;
  /** What was sent under a lower version was sent before the last change of some file. */
  #changeMark = 0;
  #turn: Promise<unknown> = Promise.resolve();

  constructor(setting: DocumentsSetting) {
    this.#setting = setting;
  }

  get paths(): readonly string[] {
    return [...this.#open.keys()];
  }

  versionOf(path: string): number | undefined {
    return this.#open.get(path)?.version;
  }

  /** The server knows the file as it is on disk now. Throws the workspace's errors, E_AST_PARSE for what is no text. */
  open(given: string): Promise<OpenDocument> {
    return this.#inTurn(async () => {
      const path = this.#setting.uris.clean(given);
      const held = await this.#bringUp(path);
      this.#open.delete(path);
      this.#open.set(path, held);
      const [oldest] = this.#open.keys();
      if (this.#open.size > MAX_OPEN && oldest !== undefined) this.#close(oldest);
      return held;
    });
  }

  /** Tells the server what changed on disk, whether it has the files open or not. */
  changed(given: readonly ChangedPath[]): Promise<void> {
    return this.#inTurn(async () => {
      const changes = given.map(({ path, kind }) => ({ path: this.#setting.uris.clean(path), kind }));
      this.#changeMark = ++this.#version;
      this.#setting.onText();
      for (const { path, kind } of changes) {
        if (kind === 'deleted') this.#closeBelow(path);
        else if (this.#open.has(path)) await this.#refresh(path);
      }
      this.#setting.onFileSet(changes.filter(({ kind }) => kind !== 'changed').map(({ path }) => path));
      const events = changes.map(({ path, kind }) => ({
        uri: this.#setting.uris.toUri(path),
        type: CHANGE_TYPES[kind],
      }));
      this.#setting.notify('workspace/didChangeWatchedFiles', { changes: events });
    });
  }

  /** Sends an open document again when other files changed after it: servers then look at it anew. */
  renew(path: string): Promise<void> {
    return this.#inTurn(async () => {
      const held = this.#open.get(path);
      if (held === undefined || held.version > this.#changeMark) return;
      this.#open.set(path, { ...held, sha256: '' });
      await this.#refresh(path);
    });
  }

  #inTurn<T>(work: () => Promise<T>): Promise<T> {
    const done = this.#turn.then(work);
    this.#turn = done.catch(() => {});
    return done;
  }

  async #bringUp(path: string): Promise<Held> {
    const { uris } = this.#setting;
    const content = await this.#setting.workspace.readFile(path, { maxBytes: MAX_BYTES });
    const before = this.#open.get(path);
    if (before?.sha256 === content.sha256) return before;
    if (content.truncated) throw unreadable(path, 'too_large', `larger than ${MAX_BYTES} bytes`);
    const held = { path, uri: uris.toUri(path), version: ++this.#version, sha256: content.sha256 };
    this.#send(held, decode(path, content.bytes), before === undefined ? 'new' : 'again');
    this.#open.set(path, held);
    if (before === undefined) this.#setting.onOpenOrClose(path);
    else this.#setting.onText();
    return held;
  }

  #send({ path, uri, version }: Held, text: string, how: 'new' | 'again'): void {
    const { notify, languageOf } = this.#setting;
    if (how === 'new') {
      notify('textDocument/didOpen', { textDocument: { uri, languageId: languageOf(path), version, text } });
      return;
    }
    notify('textDocument/didChange', { textDocument: { uri, version }, contentChanges: [{ text }] });
    notify('textDocument/didSave', { textDocument: { uri } });
  }

  async #refresh(path: string): Promise<void> {
    try {
      await this.#bringUp(path);
    } catch (thrown) {
      // Gone again, or no text any more: the server goes by what it finds on disk.
      if (!isToolError(thrown)) throw thrown;
      this.#close(path);
    }
  }

  #closeBelow(path: string): void {
    for (const each of this.#open.keys()) if (each === path || each.startsWith(`${path}/`)) this.#close(each);
  }

  #close(path: string): void {
    const held = this.#open.get(path);
    if (held === undefined) return;
    this.#open.delete(path);
    this.#setting.notify('textDocument/didClose', { textDocument: { uri: held.uri } });
    this.#setting.onOpenOrClose(path);
  }
}

/** Without a byte order mark, as editors send it. */
function decode(path: string, bytes: Uint8Array): string {
  try {
    return new TextDecoder('utf-8', { fatal: true }).decode(bytes);
  } catch {
    throw unreadable(path, 'not_utf8', 'not UTF-8');
  }
}

function unreadable(path: string, reason: string, what: string): ToolError {
  return new ToolError('E_AST_PARSE', `File cannot be given to a language server, it is ${what}: ${path}`, {
    path,
    details: { reason, next: 'name another file' },
  });
}
