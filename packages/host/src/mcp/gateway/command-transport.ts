/**
 * MCP over the standard streams of a sandboxed process. Has a `pid` and a `stderr`, by which the MCP client recognises a
 * local process: one that does not answer its first question is then an older server and not an outage.
 */
import {
  deserializeMessage,
  type JSONRPCMessage,
  serializeMessage,
  type Transport,
} from '@modelcontextprotocol/client';
import { ToolError } from '@tool-runtime/protocol';
import type { CommandRequest, OpenCommandRunner, RunningCommand } from '@tool-runtime/sdk';
import { LineSplitter } from '../../transports/line-splitter.ts';

export interface ServerProcess {
  readonly runner: OpenCommandRunner;
  readonly argv: readonly string[];
  readonly env: Readonly<Record<string, string>>;
  readonly cwd: string;
  readonly network: boolean;
  onStderr(line: string): void;
  /** Lines on standard output that are no messages. */
  onNoise(line: string): void;
}

const MAX_MESSAGE_BYTES = 32 * 1024 * 1024;
const MAX_STDERR_LINE = 8 * 1024;
const KEPT_OUTPUT_BYTES = 4096;
/** What a server gets to end by itself when its input closes. */
const LEAVE_MS = 500;

export class CommandTransport implements Transport {
  onclose: (() => void) | undefined;
  onerror: ((error: Error) => void) | undefined;
  onmessage: Transport['onmessage'];
  readonly stderr = null;
  /** How the process ended, for messages. */
  end: string | undefined;
  /** The last line of its error output that says something. */
  lastWords: string | undefined;
  readonly #server: ServerProcess;
  #process: RunningCommand | undefined;
  #isClosed = false;

  constructor(server: ServerProcess) {
    this.#server = server;
  }

  get pid(): number | null {
    return this.#process?.pids[0] ?? null;
  }

  async start(): Promise<void> {
    const messages = new LineSplitter(MAX_MESSAGE_BYTES);
    const complaints = new LineSplitter(MAX_STDERR_LINE);
    const command = await this.#server.runner.start(
      this.#request((stream, chunk) => {
        for (const line of (stream === 'stderr' ? complaints : messages).push(Buffer.from(chunk))) {
          if (stream === 'stderr') this.#complain(line.ok ? line.text : `[line left out: ${line.reason}]`);
          else if (line.ok) this.#receive(line.text);
          else this.#kill(`a message that is ${line.reason}`);
        }
      }),
    );
    this.#process = command;
    command.done.then(
      ({ code, signal }) => this.#ended(signal === null ? `exit code ${code}` : `signal ${signal}`),
      () => this.#ended('a failed start'),
    );
    if (this.#isClosed) await command.stop();
  }

  async send(message: JSONRPCMessage): Promise<void> {
    if (this.#process === undefined || this.#isClosed) throw notRunning();
    await this.#process.write(Buffer.from(serializeMessage(message)));
  }

  /** Asks by closing the input, then kills the whole tree. */
  async close(): Promise<void> {
    const { promise, resolve } = Promise.withResolvers<void>();
    const command = this.#process;
    if (command !== undefined && !this.#isClosed) {
      command.endInput();
      const timer = setTimeout(resolve, LEAVE_MS);
      command.done.catch(() => {}).finally(resolve);
      await promise;
      clearTimeout(timer);
    }
    await command?.stop();
    this.#ended('being closed');
  }

  /** At once, for one that does not listen any more. */
  async kill(why: string): Promise<void> {
    this.#kill(why);
    await this.#process?.stop();
  }

  #kill(why: string): void {
    this.end ??= why;
    void this.#process?.stop();
    this.#ended(why);
  }

  #ended(how: string): void {
    this.end ??= how;
    if (this.#isClosed) return;
    this.#isClosed = true;
    this.onclose?.();
  }

  #complain(line: string): void {
    if (!/^\s+at |^Node\.js v|^[\s{}^]*$/.test(line)) this.lastWords = line.slice(0, 300);
    this.#server.onStderr(line);
  }

  #receive(line: string): void {
    let message: JSONRPCMessage;
    try {
      message = deserializeMessage(line);
    } catch {
      this.#server.onNoise(line);
      return;
    }
    this.onmessage?.(message);
  }

  #request(onOutput: NonNullable<CommandRequest['onOutput']>): CommandRequest {
    const { argv, env, cwd, network } = this.#server;
    const list = { pipelines: [{ operator: null, commands: [{ argv, column: 1 }] }] };
    return { list, cwd, env, stdin: 'open', network, maxOutputBytes: KEPT_OUTPUT_BYTES, onOutput };
  }
}

function notRunning(): ToolError {
  return new ToolError('E_SHELL', 'MCP server does not run', {
    details: { reason: 'server_ended', retry: 'retryable' },
  });
}
