/** `tool-runtime serve` as a real process. */
import type { ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { createInterface } from 'node:readline';
import type { ToolRequest } from '@tool-runtime/protocol';
import { type Scratch, startCli } from './run-cli.ts';

export interface ServeProcess {
  readonly url: string;
  readonly socket: string;
  readonly token: string;
  readonly child: ChildProcess;
  /** What it logged so far. */
  log(): string;
  fetch(path: string, body?: unknown): Promise<Response>;
  /** Opens a session and calls in it. */
  openSession(body?: object): Promise<(tool: string, args: object, more?: Partial<ToolRequest>) => Promise<Response>>;
  ended(): Promise<number | null>;
  [Symbol.asyncDispose](): Promise<void>;
}

export async function startServe(scratch: Scratch, ...args: string[]): Promise<ServeProcess> {
  const child = startCli(['serve', '--http', '127.0.0.1:0', '--json', '--show-token', ...scratch.options, ...args]);
  let logged = '';
  child.stderr.on('data', (chunk: Buffer) => {
    logged += chunk.toString('utf8');
  });
  const ended = once(child, 'close').then(([code]) => code as number | null);
  const lines = createInterface({ input: child.stdout });
  const first = await Promise.race([once(lines, 'line'), ended]);
  if (!Array.isArray(first)) throw new TypeError(`serve ended with ${first}: ${logged}`);
  const { url, socket, token } = JSON.parse(first[0] as string) as { url: string; socket: string; token: string };
  const send = (path: string, body?: unknown): Promise<Response> =>
    fetch(`${url}${path}`, {
      method: body === undefined ? 'GET' : 'POST',
      headers: { authorization: `Bearer ${token}` },
      ...(body === undefined ? {} : { body: JSON.stringify(body) }),
    });
  let count = 0;
  return {
    url,
    socket,
    token,
    child,
    log: () => logged,
    fetch: send,
    async openSession(body = {}) {
      const { session_id } = (await (await send('/v1/sessions', body)).json()) as { session_id: string };
      return (tool, args_, more = {}) =>
        send('/v1/call', {
          type: 'ToolRequest',
          tool,
          args: args_,
          request_id: `r${++count}`,
          session_id,
          timestamp: 1,
          ...more,
        });
    },
    ended: () => ended,
    async [Symbol.asyncDispose]() {
      child.kill('SIGKILL');
      await ended;
    },
  };
}
