/** A client of `tool-runtime stdio`: sends lines, keeps the messages that come back. */
import type { ChildProcessWithoutNullStreams } from 'node:child_process';
import { once } from 'node:events';
import { createInterface } from 'node:readline';
import { type ServerMessage, serverMessageSchema } from '@tool-runtime/protocol';

export interface StdioClient {
  readonly child: ChildProcessWithoutNullStreams;
  readonly sessionId: string;
  /** Everything after the SessionAck. */
  readonly messages: readonly ServerMessage[];
  /** One line; a newline is added to text, bytes go as they are. */
  send(line: string | Uint8Array): void;
  request(requestId: string, tool: string, args: object, more?: object): string;
  /** Resolves with the first message that fits, past or future. */
  until(fits: (message: ServerMessage) => boolean): Promise<ServerMessage>;
  /** Closes stdin; resolves with the exit code when the process has ended. */
  end(): Promise<number | null>;
  readonly closed: Promise<unknown[]>;
  /** Ends the process of a test that failed. */
  [Symbol.dispose](): void;
}

export async function connectStdio(child: ChildProcessWithoutNullStreams): Promise<StdioClient> {
  const messages: ServerMessage[] = [];
  const arrived: (() => void)[] = [];
  let isClosed = false;
  const closed = once(child, 'close');
  const wakeAll = (): void => {
    for (const wake of arrived.splice(0)) wake();
  };
  child.once('close', () => {
    isClosed = true;
    wakeAll();
  });
  createInterface({ input: child.stdout }).on('line', (line) => {
    messages.push(serverMessageSchema.parse(JSON.parse(line)));
    wakeAll();
  });
  const until: StdioClient['until'] = async (fits) => {
    for (;;) {
      const found = messages.find(fits);
      if (found !== undefined) return found;
      if (isClosed) throw new TypeError(`The process ended without it, with ${child.exitCode}`);
      await new Promise<void>((resolve) => arrived.push(resolve));
    }
  };
  const ack = await until(() => true);
  if (ack.type !== 'SessionAck') throw new TypeError(`The first line is no SessionAck: ${ack.type}`);
  messages.shift();
  return {
    child,
    sessionId: ack.session_id,
    messages,
    closed,
    until,
    send: (line) => child.stdin.write(typeof line === 'string' ? `${line}\n` : line),
    request: (request_id, tool, args, more = {}) =>
      JSON.stringify({
        type: 'ToolRequest',
        tool,
        args,
        request_id,
        session_id: ack.session_id,
        timestamp: 1,
        ...more,
      }),
    [Symbol.dispose]: () => child.kill('SIGKILL'),
    async end() {
      child.stdin.end();
      const [code] = await closed;
      return code as number | null;
    },
  };
}

export function isTerminal(message: ServerMessage, requestId: string | null): boolean {
  return (message.type === 'ToolResponse' || message.type === 'ErrorMessage') && message.request_id === requestId;
}
