/**
 * A language server that is no process: what it says is given, byte for byte, and what the client writes is read back as
 * messages. It takes the place of a started command.
 */
import type { CommandOutcome, CommandRequest, RunningCommand } from '../../../packages/sdk/src/contracts/commands.ts';

export interface ClientMessage {
  readonly id?: number | string;
  readonly method?: string;
  readonly params?: unknown;
  readonly result?: unknown;
}

const NOTHING = { text: '', totalBytes: 0, truncated: false };
const OUTCOME: CommandOutcome = { code: 0, signal: null, stdout: NOTHING, stderr: NOTHING, networkEnforced: true };

export class FakeLanguageServer implements RunningCommand {
  readonly pids: readonly number[] = [];
  readonly #done = Promise.withResolvers<CommandOutcome>();
  readonly #hear: (message: ClientMessage, server: FakeLanguageServer) => void;
  #onOutput: CommandRequest['onOutput'];
  #input = Buffer.alloc(0);

  constructor(hear: (message: ClientMessage, server: FakeLanguageServer) => void) {
    this.#hear = hear;
  }

  start(request: CommandRequest): Promise<RunningCommand> {
    this.#onOutput = request.onOutput;
    return Promise.resolve(this);
  }

  say(bytes: Uint8Array): void {
    this.#onOutput?.('stdout', bytes);
  }

  answer(message: object): void {
    this.say(framed(JSON.stringify(message)));
  }

  async write(bytes: Uint8Array): Promise<void> {
    this.#input = Buffer.concat([this.#input, bytes]);
    for (;;) {
      const end = this.#input.indexOf('\r\n\r\n');
      const length = Number(/content-length: (\d+)/i.exec(this.#input.subarray(0, Math.max(0, end)).toString())?.[1]);
      if (end < 0 || this.#input.length < end + 4 + length) return;
      const body = this.#input.subarray(end + 4, end + 4 + length).toString('utf8');
      this.#input = this.#input.subarray(end + 4 + length);
      this.#hear(JSON.parse(body) as ClientMessage, this);
    }
  }

  endInput(): void {}

  isListening(): boolean {
    return false;
  }

  toBackground(): void {}

  async stop(): Promise<void> {
    this.#done.resolve(OUTCOME);
  }

  get done(): Promise<CommandOutcome> {
    return this.#done.promise;
  }
}

export function framed(body: string | Uint8Array): Buffer {
  const bytes = Buffer.from(body as Uint8Array);
  return Buffer.concat([Buffer.from(`Content-Length: ${bytes.length}\r\n\r\n`), bytes]);
}
