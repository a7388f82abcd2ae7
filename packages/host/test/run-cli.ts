/** Runs the command as a child process, the way people and clients do. */
import { type ChildProcessWithoutNullStreams, spawn } from 'node:child_process';
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

export const FROM_SOURCE = ['-C', 'tool-runtime-source', join(import.meta.dirname, 'cli-from-source.ts')];
export const FROM_BIN = [join(import.meta.dirname, '../bin/tool-runtime.js')];

export interface Scratch {
  readonly root: string;
  readonly workspace: string;
  readonly state: string;
  /** `--workspace` and `--state` of this folder. */
  readonly options: readonly string[];
  /** Writes a file of the workspace. */
  write(name: string, text: string): void;
  [Symbol.dispose](): void;
}

export function createScratch(): Scratch {
  const root = mkdtempSync(join(tmpdir(), 'tool-runtime-cli-'));
  const [workspace, state] = [join(root, 'workspace'), join(root, 'state')];
  mkdirSync(workspace);
  return {
    root,
    workspace,
    state,
    options: ['--workspace', workspace, '--state', state],
    write: (name, text) => writeFileSync(join(workspace, name), text),
    [Symbol.dispose]: () => rmSync(root, { recursive: true, force: true }),
  };
}

export interface CliRun {
  readonly code: number | null;
  readonly stdout: string;
  readonly stderr: string;
}

export interface RunOptions {
  readonly input?: string | Uint8Array;
  readonly env?: Readonly<Record<string, string>>;
  /** By default FROM_SOURCE. */
  readonly program?: readonly string[];
}

export function startCli(args: readonly string[], options: RunOptions = {}): ChildProcessWithoutNullStreams {
  return spawn(process.execPath, [...(options.program ?? FROM_SOURCE), ...args], {
    env: { ...neutralEnvironment(), ...options.env },
  });
}

/** Colour and coverage settings of the test run are not the child's. */
function neutralEnvironment(): NodeJS.ProcessEnv {
  const { FORCE_COLOR, NO_COLOR, NODE_TEST_CONTEXT, NODE_V8_COVERAGE, ...rest } = process.env;
  return { ...rest, NODE_COMPILE_CACHE: join(tmpdir(), 'tool-runtime-compiled') };
}

export async function runCli(args: readonly string[], options: RunOptions = {}): Promise<CliRun> {
  const child = startCli(args, options);
  const ended = new Promise<number | null>((resolve) => child.once('close', resolve));
  const [stdout, stderr] = [collect(child.stdout), collect(child.stderr)];
  child.stdin.on('error', () => {});
  child.stdin.end(options.input ?? '');
  return { code: await ended, stdout: await stdout, stderr: await stderr };
}

async function collect(stream: AsyncIterable<Buffer>): Promise<string> {
  const chunks: Buffer[] = [];
  for await (const chunk of stream) chunks.push(chunk);
  return Buffer.concat(chunks).toString('utf8');
}

export function jsonLines(text: string): Record<string, unknown>[] {
  return text
    .split('\n')
    .filter((line) => line !== '')
    .map((line) => JSON.parse(line) as Record<string, unknown>);
}
