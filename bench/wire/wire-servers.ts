/** The host, as built, and the bare echo as child processes. */
import { type ChildProcess, spawn } from 'node:child_process';
import { createInterface } from 'node:readline';
import { fileURLToPath } from 'node:url';
import { ensureBuilt } from '../../packages/host/test/ensure-built.ts';
import { FROM_BIN } from '../../packages/host/test/run-cli.ts';
import { talkLines, type WireClient } from './wire-client.ts';

const ROOT = fileURLToPath(new URL('../..', import.meta.url));
const ECHO = [`${ROOT}bench/echo-server.ts`];

export interface Folders {
  readonly workspace: string;
  readonly state: string;
}

export interface HostProcess {
  readonly url: string;
  readonly socket: string;
  readonly token: string;
  readonly pid: number;
  kill(): void;
}

export async function startHostProcess({ workspace, state }: Folders): Promise<HostProcess> {
  ensureBuilt();
  const places = ['--workspace', workspace, '--state', state];
  const child = start([...FROM_BIN, 'serve', ...places, '--http', '127.0.0.1:0', '--json', '--show-token']);
  const { url, socket, token } = (await firstLine(child)) as Record<'url' | 'socket' | 'token', string>;
  return { url, socket, token, pid: child.pid ?? 0, kill: () => void child.kill('SIGKILL') };
}

export interface EchoProcess {
  readonly url: string;
  readonly lines: string;
  readonly http: string;
  kill(): void;
}

/** `answer` is a text of the host's with `ID` for the request id. */
export async function startEchoProcess(folder: string, answer: string): Promise<EchoProcess> {
  const child = start([...ECHO, 'streams', folder], answer);
  const { url, lines, http } = (await firstLine(child)) as Record<'url' | 'lines' | 'http', string>;
  return { url, lines, http, kill: () => void child.kill('SIGKILL') };
}

export function startEchoOverStdio(answer: string): Promise<WireClient> {
  return talk(start([...ECHO, 'stdio'], answer), { isGreeted: false });
}

export function startHostOverStdio({ workspace, state }: Folders): Promise<WireClient> {
  ensureBuilt();
  return talk(start([...FROM_BIN, 'stdio', '--workspace', workspace, '--state', state]), { isGreeted: true });
}

function start(args: readonly string[], answer?: string): ChildProcess {
  const env = answer === undefined ? process.env : { ...process.env, ECHO_ANSWER: answer };
  return spawn(process.execPath, args, { cwd: ROOT, env, stdio: ['pipe', 'pipe', 'ignore'] });
}

function talk(child: ChildProcess, { isGreeted }: { readonly isGreeted: boolean }): Promise<WireClient> {
  if (child.stdout === null || child.stdin === null) throw new TypeError('The child has no streams');
  return talkLines(child.stdout, child.stdin, { isGreeted, close: () => void child.kill('SIGKILL') });
}

async function firstLine({ stdout }: ChildProcess): Promise<unknown> {
  if (stdout === null) throw new TypeError('The child has no output');
  for await (const line of createInterface({ input: stdout })) {
    stdout.resume();
    return JSON.parse(line);
  }
  throw new TypeError('The child ended without a word');
}
