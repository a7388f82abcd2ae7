/**
 * Running a program that sees one folder and nothing else: read-only, without network, capabilities or environment.
 *
 * Whatever is renamed or linked while it runs, there is nothing outside for it to find. Bubblewrap builds the sandbox; it
 * is tried once on this machine before it is relied on.
 */
import { existsSync, statSync } from 'node:fs';
import { identityOf } from '../descriptors/root.ts';
import type { Spawner } from '../processes/spawned-process.ts';
import { BUBBLEWRAP_PLACES, readOnly, sandboxFlags } from './bubblewrap-args.ts';
import { type Command, runProgram } from './run-program.ts';
import type { Mount } from './sandbox-mounts.ts';
import { SETTLED, verifyMounts } from './verify-mounts.ts';

export const CONFINED_FOLDER = '/workspace';
export const CONFINED_PROGRAM = '/program';

export interface Bubblewrap {
  readonly path: string;
  /** `device:inode` of the program it was tried with, the only one it runs. */
  readonly program: string;
}

export interface ConfinedProgram {
  /** Becomes the program's working folder; relative ones start at the folder bubblewrap is started in. */
  readonly folder: string;
  /** `device:inode` the folder must have. */
  readonly identity: string;
  /** Absolute path of a static executable. */
  readonly program: string;
  readonly args: readonly string[];
}

export function confinedCommand(
  { path, program: tried }: Bubblewrap,
  { folder, identity, program, args }: ConfinedProgram,
): Command {
  // One static program that starts nothing: the further restrictions of newer versions make no difference to it.
  const sandboxes = [...sandboxFlags({ path, closesUserNamespaces: false, boundsMemoryFiles: false }), '--clearenv'];
  const mounts: readonly Mount[] = [
    { at: CONFINED_FOLDER, from: folder, writable: false, identity },
    { at: CONFINED_PROGRAM, from: program, writable: false, identity: tried },
  ];
  const words = mounts.flatMap(({ at, from = '' }) => readOnly(from, at));
  return {
    file: path,
    args: [
      ...sandboxes,
      ...words,
      ...['--dir', `/${SETTLED}`, '--chdir', CONFINED_FOLDER, '--', CONFINED_PROGRAM],
      ...args,
    ],
    verify: (init) => verifyMounts(init, mounts),
  };
}

function identityAt(path: string): string {
  return identityOf(statSync(path, { bigint: true }));
}

/** Undefined where bubblewrap is missing or may not build its sandbox, as in many containers. */
export async function findBubblewrap(trial: Trial, spawner: Spawner): Promise<Bubblewrap | undefined> {
  for (const path of BUBBLEWRAP_PLACES) {
    if (!existsSync(path) || !existsSync(trial.program)) continue;
    const bubblewrap = { path, program: identityAt(trial.program) };
    if (await holds(bubblewrap, trial, spawner)) return bubblewrap;
  }
  return undefined;
}

/** A program, and arguments under which it prints exactly `output` when it runs and sees nothing outside. */
export interface Trial {
  readonly program: string;
  readonly args: readonly string[];
  readonly output: string;
}

async function holds(bubblewrap: Bubblewrap, { program, args, output }: Trial, spawner: Spawner): Promise<boolean> {
  const command = confinedCommand(bubblewrap, { folder: '/proc', identity: identityAt('/proc'), program, args });
  try {
    const running = await runProgram(command, { folder: '/', spawner });
    let printed = '';
    for await (const chunk of running.stdout) {
      printed += String(chunk);
      if (printed.length > output.length) break;
    }
    running.kill();
    await running.ended;
    return printed === output;
  } catch {
    // Not startable: no sandbox.
    return false;
  }
}
