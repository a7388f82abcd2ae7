/** Runs a program to its end and tells how it went; what failed is for the caller to judge. */
import { execFile } from 'node:child_process';

export interface ProgramPlace {
  readonly cwd: string;
  readonly env?: NodeJS.ProcessEnv;
}

export interface ProgramEnd {
  readonly ok: boolean;
  readonly stdout: string;
  readonly stderr: string;
}

const LIMIT_MS = 120_000;
const MAX_OUTPUT = 64 * 1024 * 1024;

export function runProgram(program: string, args: readonly string[], place: ProgramPlace): Promise<ProgramEnd> {
  const options = { ...place, timeout: LIMIT_MS, maxBuffer: MAX_OUTPUT, encoding: 'utf8' } as const;
  return new Promise((resolve) => {
    execFile(program, args, options, (error, stdout, stderr) => {
      // A program that was never started has written nothing: the reason is in the error alone.
      resolve({ ok: error === null, stdout, stderr: stderr === '' && error !== null ? error.message : stderr });
    });
  });
}

/** For steps that the rest cannot do without. */
export async function mustRun(program: string, args: readonly string[], place: ProgramPlace): Promise<string> {
  const { ok, stdout, stderr } = await runProgram(program, args, place);
  if (!ok) throw new Error(`${[program, ...args].join(' ')} failed in ${place.cwd}\n${stderr}${stdout}`);
  return stdout;
}
