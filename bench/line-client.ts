/** Talks to a program in JSON lines over its standard streams, thin enough that the program is what is timed. */
import { spawn } from 'node:child_process';
import { createInterface } from 'node:readline';

export interface LineClient {
  /** Sends one message and resolves with the answer that carries the same id. */
  ask(id: string | number, message: object): Promise<Record<string, unknown>>;
  send(message: object): void;
  close(): void;
}

export interface Program {
  readonly program: string;
  readonly args: readonly string[];
  readonly cwd: string;
  /** The id of an answer; undefined for everything else the program prints. */
  idOf(message: Record<string, unknown>): string | number | undefined;
}

export function startLineClient({ program, args, cwd, idOf }: Program): LineClient {
  const child = spawn(program, args, { cwd, stdio: ['pipe', 'pipe', 'ignore'] });
  const waiting = new Map<string | number, (message: Record<string, unknown>) => void>();
  createInterface({ input: child.stdout }).on('line', (line) => {
    const message = JSON.parse(line) as Record<string, unknown>;
    const id = idOf(message);
    if (id === undefined) return;
    waiting.get(id)?.(message);
    waiting.delete(id);
  });
  const send = (message: object): void => void child.stdin.write(`${JSON.stringify(message)}\n`);
  return {
    send,
    ask(id, message) {
      return new Promise((resolve) => {
        waiting.set(id, resolve);
        send(message);
      });
    },
    close: () => void child.kill('SIGKILL'),
  };
}
