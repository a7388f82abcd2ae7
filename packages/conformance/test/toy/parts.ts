/**
 * The correct toy server, as parts that a fault replaces one of. It is written for the suite alone: small, on Linux,
 * with a real sandbox for commands.
 */
import { type ChildProcess, spawn } from 'node:child_process';
import { createHash, randomBytes } from 'node:crypto';
import {
  appendFileSync,
  chmodSync,
  closeSync,
  constants,
  existsSync,
  fstatSync,
  openSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  writeSync,
} from 'node:fs';
import path from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';

export class Refusal extends Error {}

export interface Folders {
  readonly workspace: string;
  readonly state: string;
}

export type Operation = 'read' | 'write' | 'edit' | 'list' | 'search';

export interface CommandEnd {
  readonly output: string;
  readonly code: number | null;
}

const { O_RDONLY, O_NOFOLLOW, O_DIRECTORY, O_NONBLOCK } = constants;
export const CHUNK = 48 * 1024;

/** Every method is one decision of the server, so that a fault is one method. `this` is the server with its fault. */
export class Toy {
  readonly folders: Folders;
  readonly running = new Set<ChildProcess>();
  readonly answers = new Map<string, { readonly args: string; readonly text: string }>();
  #tail: Promise<unknown> = Promise.resolve();

  constructor(folders: Folders) {
    this.folders = folders;
  }

  /** What a crash left behind goes, and what was recorded comes back. */
  recover(): void {
    this.sweep();
    const keys = this.keyFile();
    if (!existsSync(keys)) return;
    for (const line of readFileSync(keys, 'utf8').trim().split('\n')) {
      const { key, args, text } = JSON.parse(line) as Record<'key' | 'args' | 'text', string>;
      this.answers.set(key, { args, text });
    }
  }

  sweep(): void {
    for (const name of readdirSync(this.folders.workspace)) {
      if (name.startsWith('.toy-')) rmSync(path.join(this.folders.workspace, name));
    }
  }

  keyFile(): string {
    return path.join(this.folders.state, 'keys.jsonl');
  }

  /** The parts of a path below the workspace. */
  partsOf(name: string, _operation: Operation): string[] {
    if (name.includes('\0') || name.length > 4096) throw new Refusal('This path is not valid');
    if (path.isAbsolute(name)) throw new Refusal('Absolute paths are refused');
    const parts = name.split('/').filter((part) => part !== '' && part !== '.');
    if (parts.includes('..')) throw new Refusal('Paths must not leave the workspace');
    return parts;
  }

  /** The folder of a path, opened part by part without following links, and the last part. */
  async openFolder(parts: readonly string[], _operation: Operation): Promise<{ fd: number; last: string }> {
    let fd = openSync(this.folders.workspace, O_RDONLY | O_DIRECTORY);
    for (const part of parts.slice(0, -1)) {
      const next = this.openAt(fd, part, O_RDONLY | O_DIRECTORY | O_NOFOLLOW);
      closeSync(fd);
      fd = next;
    }
    return { fd, last: parts.at(-1) ?? '.' };
  }

  openAt(fd: number, name: string, flags: number): number {
    try {
      return openSync(`/proc/self/fd/${fd}/${name}`, flags);
    } catch (cause) {
      throw new Refusal(`Cannot open ${name}: ${(cause as NodeJS.ErrnoException).code}`);
    }
  }

  /** A function that reads or writes a file with its folder open. */
  async inFolder<Value>(
    name: string,
    operation: Operation,
    body: (fd: number, last: string) => Value | Promise<Value>,
  ): Promise<Value> {
    const { fd, last } = await this.openFolder(this.partsOf(name, operation), operation);
    try {
      return await body(fd, last);
    } finally {
      closeSync(fd);
    }
  }

  async bytesOf(name: string, operation: Operation): Promise<Buffer> {
    return await this.inFolder(name, operation, (fd, last) => this.readAt(fd, last));
  }

  readAt(fd: number, last: string): Buffer | Promise<Buffer> {
    const file = this.openAt(fd, last, O_RDONLY | O_NOFOLLOW | O_NONBLOCK);
    try {
      if (!fstatSync(file).isFile()) throw new Refusal(`${last} is not a regular file`);
      return readFileSync(file);
    } finally {
      closeSync(file);
    }
  }

  async read(name: string): Promise<string> {
    return (await this.bytesOf(name, 'read')).toString('utf8');
  }

  /** Writes a file beside it, in pieces, and renames it into place. */
  async place(name: string, bytes: Buffer, operation: Operation): Promise<void> {
    await this.inFolder(name, operation, async (fd, last) => {
      const folder = `/proc/self/fd/${fd}`;
      const mode = this.modeOf(fd, last);
      const temporary = `${folder}/.toy-${randomBytes(6).toString('hex')}`;
      const file = openSync(temporary, 'wx', 0o600);
      for (let at = 0; at < bytes.length; at += CHUNK) {
        writeSync(file, bytes.subarray(at, at + CHUNK));
        if (bytes.length > CHUNK) await sleep(1);
      }
      closeSync(file);
      chmodSync(temporary, mode);
      renameSync(temporary, `${folder}/${last}`);
    });
  }

  modeOf(fd: number, last: string): number {
    try {
      const file = this.openAt(fd, last, O_RDONLY | O_NOFOLLOW | O_NONBLOCK);
      const { mode } = fstatSync(file);
      closeSync(file);
      return mode & 0o7777;
    } catch {
      return 0o644;
    }
  }

  async write(name: string, content: string): Promise<string> {
    await this.alone(() => this.place(name, Buffer.from(content), 'write'));
    return 'written';
  }

  async edit(name: string, old: string, text: string): Promise<string> {
    return await this.alone(async () => {
      const now = await this.bytesOf(name, 'edit');
      await this.place(name, this.replaced(now, old, text), 'edit');
      return 'edited';
    });
  }

  replaced(now: Buffer, old: string, text: string): Buffer {
    const at = now.indexOf(old);
    if (at < 0) throw new Refusal('The old text is not in the file');
    if (now.includes(old, at + 1)) throw new Refusal('The old text is in the file more than once');
    return Buffer.concat([now.subarray(0, at), Buffer.from(text), now.subarray(at + Buffer.byteLength(old))]);
  }

  /** One change after the other. */
  alone<Value>(body: () => Promise<Value>): Promise<Value> {
    const done = this.#tail.then(body);
    this.#tail = done.catch(() => {});
    return done;
  }

  async list(name: string): Promise<string> {
    return await this.inFolder(`${name}/.`, 'list', (fd, last) => {
      const folder = this.openAt(fd, last, O_RDONLY | O_DIRECTORY | O_NOFOLLOW);
      try {
        return readdirSync(`/proc/self/fd/${folder}`).join('\n');
      } finally {
        closeSync(folder);
      }
    });
  }

  async search(name: string, pattern: string): Promise<string> {
    this.partsOf(name, 'search');
    const hits: string[] = [];
    for (const folders = [this.folders.workspace]; folders.length > 0; ) {
      for (const entry of readdirSync(folders.pop() ?? '', { withFileTypes: true })) {
        const file = path.join(entry.parentPath, entry.name);
        if (entry.isDirectory()) folders.push(file);
        if (!this.isSearched(entry)) continue;
        const lines = readFileSync(file, 'utf8').split('\n');
        hits.push(...lines.filter((line) => line.includes(pattern)).map((line) => `${entry.name}: ${line}`));
      }
    }
    return hits.join('\n');
  }

  isSearched(entry: {
    isFile(): boolean;
    isSymbolicLink(): boolean;
    readonly name: string;
    readonly parentPath: string;
  }) {
    return entry.isFile();
  }

  /** No shell reads it: blanks separate words, quotes keep them together. */
  wordsOf(command: string): string[] {
    return [...command.matchAll(/(?:[^\s"']|"[^"]*"|'[^']*')+/g)].map(([word]) => word.replaceAll(/^["']|["']$/g, ''));
  }

  sandbox(): string[] {
    const { workspace } = this.folders;
    const system = ['/usr', '/bin', '/lib', '/lib64'].filter((folder) => existsSync(folder));
    return [
      ...[
        'bwrap',
        '--unshare-pid',
        '--unshare-ipc',
        '--die-with-parent',
        '--clearenv',
        '--setenv',
        'PATH',
        '/usr/bin:/bin',
      ],
      ...system.flatMap((folder) => ['--ro-bind', folder, folder]),
      ...['--proc', '/proc', '--dev', '/dev', '--tmpfs', '/tmp', '--bind', workspace, workspace, '--chdir', workspace],
    ];
  }

  async run(command: string, cancelled: Promise<void>): Promise<CommandEnd> {
    return await this.execute([...this.sandbox(), ...this.wordsOf(command)], cancelled);
  }

  /** To its end, in a process group of its own. */
  async execute(words: readonly string[], cancelled: Promise<void>): Promise<CommandEnd> {
    const [program = '', ...args] = words;
    const child = spawn(program, args, {
      cwd: this.folders.workspace,
      detached: true,
      stdio: ['ignore', 'pipe', 'pipe'],
      env: this.environment(),
    });
    this.running.add(child);
    let output = '';
    for (const stream of [child.stdout, child.stderr]) stream.on('data', (chunk: Buffer) => (output += chunk));
    void cancelled.then(() => this.cancel(child));
    const code = await new Promise<number | null>((resolve) => {
      child.once('error', () => resolve(127));
      child.once('exit', resolve);
    });
    this.running.delete(child);
    this.afterCommand(child);
    await sleep(5);
    return { output, code };
  }

  environment(): NodeJS.ProcessEnv {
    return { PATH: '/usr/bin:/bin' };
  }

  cancel(child: ChildProcess): void {
    this.killGroup(child);
  }

  /** The sandbox ends everything in it. */
  afterCommand(_child: ChildProcess): void {}

  killGroup(child: ChildProcess): void {
    try {
      process.kill(-(child.pid ?? 0), 'SIGKILL');
    } catch {
      // It is gone.
    }
  }

  /** When the client is gone. */
  shutDown(): void {
    for (const child of this.running) this.killGroup(child);
    process.exit(0);
  }

  /** A call with a key is carried out once. */
  async once(key: string, args: string, body: () => Promise<string>): Promise<string> {
    const known = this.answers.get(key);
    if (known === undefined) {
      const text = await body();
      this.answers.set(key, { args, text });
      this.keep(key, args, text);
      return text;
    }
    if (!this.isSame(known.args, args)) throw new Refusal('This key was used for another call');
    return known.text;
  }

  keep(key: string, args: string, text: string): void {
    appendFileSync(this.keyFile(), `${JSON.stringify({ key, args, text })}\n`);
  }

  isSame(left: string, right: string): boolean {
    return left === right;
  }

  journalFile(): string {
    return path.join(this.folders.state, 'journal.jsonl');
  }

  record(what: string, _ok: boolean): void {
    this.append(what);
  }

  append(what: string): void {
    const lines = existsSync(this.journalFile()) ? readFileSync(this.journalFile(), 'utf8').trimEnd().split('\n') : [];
    const before = lines.length === 0 ? '' : (JSON.parse(lines.at(-1) ?? '{}') as { hash: string }).hash;
    appendFileSync(this.journalFile(), `${JSON.stringify({ what, hash: this.hashOf(before, what) })}\n`);
  }

  hashOf(before: string, what: string): string {
    return createHash('sha256').update(`${before}\n${what}`).digest('hex');
  }

  verify(): boolean {
    let before = '';
    if (!existsSync(this.journalFile())) return true;
    for (const line of readFileSync(this.journalFile(), 'utf8').trimEnd().split('\n')) {
      const { what, hash } = JSON.parse(line) as { what: string; hash: string };
      if (this.hashOf(before, what) !== hash) return false;
      before = hash;
    }
    return true;
  }

  describeError(cause: unknown, _tool: string): string {
    return cause instanceof Refusal ? cause.message : 'The call failed';
  }
}
