/**
 * A server as a process that speaks JSON lines on its standard streams. It has a process group of its own, so that a
 * wrapper such as npx is killed together with the server that it started.
 */
import { type ChildProcess, spawn } from 'node:child_process';

export interface ProcessSettings {
  readonly words: readonly string[];
  readonly cwd: string;
  readonly env: Readonly<Record<string, string | undefined>>;
}

export type Message = Readonly<Record<string, unknown>>;

/** The process ended, or did not answer. */
export class ServerGone extends Error {}

const KEPT_STDERR = 4000;
/** Time that a server gets to end by itself, first after its input was closed and then after SIGTERM. */
const GRACE_MS = 10_000;

export class LineProcess {
  readonly #child: ChildProcess;
  readonly #ended: Promise<void>;
  readonly #endings = new Set<() => void>();
  #stderr = '';
  #isGone = false;

  constructor({ words, cwd, env }: ProcessSettings, receive: (message: Message) => void) {
    const [program = '', ...args] = words;
    this.#child = spawn(program, args, { cwd, env, stdio: 'pipe', detached: true });
    this.#ended = new Promise((resolve) => {
      const end = (why: string): void => {
        this.#isGone = true;
        this.#stderr += why;
        for (const ending of this.#endings) ending();
        resolve();
      };
      this.#child.once('error', (cause) => end(`\n${cause.message}`));
      this.#child.once('exit', (code, signal) => end(`\nended with ${signal ?? `exit code ${code}`}`));
    });
    this.#child.stdin?.on('error', () => {});
    this.#child.stderr?.on('data', (chunk: Buffer) => {
      this.#stderr = `${this.#stderr}${chunk.toString('utf8')}`.slice(-KEPT_STDERR);
    });
    const decoder = new TextDecoder();
    let rest = '';
    // Split here: readline also splits at U+2028, which is an ordinary character in JSON.
    this.#child.stdout?.on('data', (chunk: Buffer) => {
      const lines = `${rest}${decoder.decode(chunk, { stream: true })}`.split('\n');
      rest = lines.pop() ?? '';
      for (const message of lines.map(parse)) if (message !== undefined) receive(message);
    });
  }

  get pid(): number {
    return this.#child.pid ?? 0;
  }

  /** What the process last wrote to its standard error, and how it ended. */
  get lastWords(): string {
    return this.#stderr.trim().split('\n').slice(-3).join(' / ');
  }

  send(message: object): void {
    if (!this.#isGone) this.#child.stdin?.write(`${JSON.stringify(message)}\n`);
  }

  /** Resolves like the promise; rejects when the process ends first or the time is over. */
  async within<Value>(promise: Promise<Value>, milliseconds: number): Promise<Value> {
    return await new Promise<Value>((resolve, reject) => {
      const gone = (): void => settle(() => reject(new ServerGone(`The server ended: ${this.lastWords}`)));
      const late = (): void => settle(() => reject(new ServerGone(`No answer within ${milliseconds / 1000} s`)));
      const timer = setTimeout(late, milliseconds);
      const settle = (done: () => void): void => {
        clearTimeout(timer);
        this.#endings.delete(gone);
        done();
      };
      this.#endings.add(gone);
      promise.then(
        (value) => settle(() => resolve(value)),
        (cause: unknown) => settle(() => reject(cause)),
      );
      if (this.#isGone) gone();
    });
  }

  async kill(): Promise<void> {
    this.#signal('SIGKILL');
    await this.#ended;
  }

  /** As MCP wants it for standard streams: closes the input, then asks, then kills. */
  async close(): Promise<void> {
    this.#child.stdin?.end();
    for (const signal of ['SIGTERM', 'SIGKILL'] as const) {
      if (await this.#endsWithin(GRACE_MS)) break;
      this.#signal(signal);
    }
    await this.#ended;
    // A wrapper may end before the server that it started.
    this.#signal('SIGKILL');
  }

  async #endsWithin(milliseconds: number): Promise<boolean> {
    const timer = Promise.withResolvers<boolean>();
    const timeout = setTimeout(() => timer.resolve(false), milliseconds);
    const ended = await Promise.race([this.#ended.then(() => true), timer.promise]);
    clearTimeout(timeout);
    return ended;
  }

  #signal(signal: NodeJS.Signals): void {
    if (this.#child.pid === undefined) return;
    try {
      process.kill(-this.#child.pid, signal);
    } catch {
      // The group is gone already.
    }
  }
}

function parse(line: string): Message | undefined {
  try {
    const value: unknown = JSON.parse(line);
    return typeof value === 'object' && value !== null ? (value as Message) : undefined;
  } catch {
    return undefined;
  }
}
