/**
 * The smallest client that can ask a language server for a rename and for references: the second opinion of the
 * differential tests. Kept apart from `src/lsp`, which is under test elsewhere.
 */
import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath, pathToFileURL } from 'node:url';

const PROGRAMS = fileURLToPath(new URL('../../../../node_modules/.bin/', import.meta.url));

export interface ServerEdit {
  readonly path: string;
  /** Bytes. */
  readonly start: number;
  readonly newText: string;
}

interface Position {
  readonly line: number;
  readonly character: number;
}

interface TextEdit {
  readonly range: { readonly start: Position; readonly end: Position };
  readonly newText: string;
}

interface WorkspaceEdit {
  readonly changes?: Readonly<Record<string, readonly TextEdit[]>>;
  readonly documentChanges?: readonly {
    readonly textDocument: { readonly uri: string };
    readonly edits: readonly TextEdit[];
  }[];
}

interface Message {
  readonly id?: number;
  readonly method?: string;
  readonly params?: { readonly items?: readonly unknown[]; readonly message?: string };
  readonly result?: unknown;
  readonly error?: { readonly message: string };
}

const LANGUAGE_IDS: Readonly<Record<string, string>> = {
  ts: 'typescript',
  tsx: 'typescriptreact',
  js: 'javascript',
  cjs: 'javascript',
  py: 'python',
};

export class LanguageServerClient {
  readonly #root: string;
  readonly #child: ChildProcess;
  readonly #pending = new Map<number, { resolve(value: unknown): void; reject(reason: TypeError): void }>();
  readonly #opened = new Set<string>();
  readonly #logged: ((message: string) => void)[] = [];
  #received = Buffer.alloc(0);
  #next = 1;

  constructor(program: string, args: readonly string[], root: string) {
    this.#root = root;
    this.#child = spawn(join(PROGRAMS, program), args, { cwd: root, stdio: ['pipe', 'pipe', 'ignore'] });
    this.#child.stdout?.on('data', (bytes: Buffer) => this.#receive(bytes));
  }

  /** With a pattern, waits until the server has logged a line like it after the first file was opened. */
  async start(options: { readonly readyAfter?: { readonly path: string; readonly log: RegExp } } = {}): Promise<void> {
    const uri = pathToFileURL(this.#root).href;
    await this.#request('initialize', {
      processId: process.pid,
      rootUri: uri,
      workspaceFolders: [{ uri, name: 'project' }],
      capabilities: { workspace: { configuration: true, workspaceFolders: true } },
    });
    this.#send({ method: 'initialized', params: {} });
    const { readyAfter } = options;
    if (readyAfter === undefined) return;
    const ready = new Promise<void>((resolve) => {
      this.#logged.push((message) => readyAfter.log.test(message) && resolve());
    });
    this.#open(readyAfter.path);
    await ready;
  }

  /** Undefined when the server renames nothing there. Edits it sends twice are one. */
  async rename(path: string, byte: number, newName: string): Promise<readonly ServerEdit[] | undefined> {
    this.#open(path);
    const position = positionOf(this.#bytes(path), byte);
    const textDocument = { uri: this.#uri(path) };
    const edit = (await this.#request('textDocument/rename', {
      textDocument,
      position,
      newName,
    })) as WorkspaceEdit | null;
    if (edit === null) return undefined;
    const changes =
      edit.changes === undefined
        ? (edit.documentChanges ?? []).map((one) => [one.textDocument.uri, one.edits] as const)
        : Object.entries(edit.changes);
    const found = new Map<string, ServerEdit>();
    for (const [uri, edits] of changes) {
      const changed = this.#pathOf(uri);
      for (const { range, newText } of edits) {
        const start = byteOf(this.#bytes(changed), range.start);
        found.set(`${changed}@${start}`, { path: changed, start, newText });
      }
    }
    return [...found.values()];
  }

  /** Every place that means what is declared there, the declaration among them, as `path@byte`. */
  async references(path: string, byte: number): Promise<ReadonlySet<string>> {
    this.#open(path);
    const found = (await this.#request('textDocument/references', {
      textDocument: { uri: this.#uri(path) },
      position: positionOf(this.#bytes(path), byte),
      context: { includeDeclaration: true },
    })) as readonly { readonly uri: string; readonly range: TextEdit['range'] }[] | null;
    return new Set(
      (found ?? []).map(({ uri, range }) => {
        const place = this.#pathOf(uri);
        return `${place}@${byteOf(this.#bytes(place), range.start)}`;
      }),
    );
  }

  async stop(): Promise<void> {
    this.#child.kill();
    if (this.#child.exitCode === null && this.#child.signalCode === null) await once(this.#child, 'exit');
  }

  #open(path: string): void {
    if (this.#opened.has(path)) return;
    this.#opened.add(path);
    const languageId = LANGUAGE_IDS[path.slice(path.lastIndexOf('.') + 1)] ?? 'plaintext';
    const textDocument = { uri: this.#uri(path), languageId, version: 1, text: this.#bytes(path).toString() };
    this.#send({ method: 'textDocument/didOpen', params: { textDocument } });
  }

  #bytes(path: string): Buffer {
    return readFileSync(join(this.#root, path));
  }

  #pathOf(uri: string): string {
    return decodeURIComponent(uri).slice(decodeURIComponent(this.#uri('')).length);
  }

  #uri(path: string): string {
    return pathToFileURL(`${this.#root}/${path}`).href;
  }

  #request(method: string, params: unknown): Promise<unknown> {
    const id = this.#next++;
    return new Promise((resolve, reject) => {
      this.#pending.set(id, { resolve, reject });
      this.#send({ id, method, params });
    });
  }

  #send(message: Readonly<Record<string, unknown>>): void {
    const body = Buffer.from(JSON.stringify({ jsonrpc: '2.0', ...message }));
    this.#child.stdin?.write(`Content-Length: ${body.length}\r\n\r\n`);
    this.#child.stdin?.write(body);
  }

  #receive(bytes: Buffer): void {
    this.#received = Buffer.concat([this.#received, bytes]);
    for (;;) {
      const end = this.#received.indexOf('\r\n\r\n');
      const length = Number(
        /Content-Length: (\d+)/i.exec(this.#received.subarray(0, Math.max(end, 0)).toString())?.[1],
      );
      if (end === -1 || this.#received.length < end + 4 + length) return;
      const message = JSON.parse(this.#received.subarray(end + 4, end + 4 + length).toString()) as Message;
      this.#received = this.#received.subarray(end + 4 + length);
      this.#handle(message);
    }
  }

  #handle({ id, method, params, result, error }: Message): void {
    if (method !== undefined && id !== undefined) {
      this.#send({ id, result: method === 'workspace/configuration' ? (params?.items ?? []).map(() => ({})) : null });
    } else if (method === 'window/logMessage') {
      for (const listen of this.#logged) listen(params?.message ?? '');
    } else if (id !== undefined) {
      const waiting = this.#pending.get(id);
      this.#pending.delete(id);
      if (error === undefined) waiting?.resolve(result ?? null);
      else waiting?.reject(new TypeError(error.message));
    }
  }
}

function positionOf(bytes: Buffer, byte: number): Position {
  const lines = bytes.subarray(0, byte).toString().split('\n');
  return { line: lines.length - 1, character: lines.at(-1)?.length ?? 0 };
}

function byteOf(bytes: Buffer, { line, character }: Position): number {
  const lines = bytes.toString().split('\n');
  return Buffer.byteLength(
    `${lines
      .slice(0, line)
      .map((one) => `${one}\n`)
      .join('')}${(lines[line] ?? '').slice(0, character)}`,
  );
}
