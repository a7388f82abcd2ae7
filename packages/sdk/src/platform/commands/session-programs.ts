/** The programs of one session, commands and git, in one sandbox. */
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { StagingCommandRunner } from '../../contracts/commands.ts';
import type { OpenGit } from '../../contracts/git.ts';
import type { GoverningPlace } from '../../contracts/governing.ts';
import type { Registry } from '../../contracts/registry.ts';
import { createGitRepository } from '../git/git-repository.ts';
import type { Spawner } from '../processes/spawned-process.ts';
import { createSessionSandbox, type SessionSandboxOptions } from '../sandbox/session-sandbox.ts';
import { showToolchains } from '../toolchains/shown-toolchains.ts';
import { type CommandSlots, createCommandRunner } from './command-runner.ts';

export interface ProgramsOptions {
  readonly workspace: SessionSandboxOptions['workspace'];
  readonly state: string;
  readonly registry: Registry;
  /** What decides over tools, wherever it lies. */
  readonly governing: readonly GoverningPlace[];
  /** Who the session acts for. */
  readonly actor: string;
  /** Left out: commands do not wait. */
  readonly slots?: CommandSlots;
  /** Left out: one of its own. */
  readonly spawner?: Spawner;
}

export interface SessionPrograms {
  readonly commands: StagingCommandRunner;
  readonly git: OpenGit;
  close(): Promise<void>;
}

export function createSessionPrograms(given: ProgramsOptions): SessionPrograms {
  const { workspace, state, registry, actor, slots, governing } = given;
  const { isolation, allowedDomains } = registry;
  const { spawner } = given;
  const place = typeof workspace === 'string' ? workspace : workspace.path;
  const toolchains = showToolchains({ registry, workspace: place, state });
  const options = {
    ...{ workspace, state, isolation, allowedDomains, governing, toolchains, caches: registry.sandbox.caches },
    durability: registry.durability,
    ...(spawner === undefined ? {} : { spawner }),
  };
  const sandbox = createSessionSandbox(options);
  const commands = createCommandRunner({ ...options, sandbox, ...(slots === undefined ? {} : { slots }) });
  const git = createGitRepository({ sandbox, registry, actor, governing, state });
  return {
    commands,
    git,
    async close() {
      await Promise.all([commands.close(), git.close()]);
      await sandbox.close();
    },
  };
}

/** Programs with a state folder of their own, for commands that only look: it is gone when they are done. */
export async function usePrograms<T>(
  options: Omit<ProgramsOptions, 'state'>,
  use: (programs: SessionPrograms) => Promise<T>,
): Promise<T> {
  const state = mkdtempSync(join(tmpdir(), 'tool-runtime-programs-'));
  const programs = createSessionPrograms({ ...options, state });
  try {
    return await use(programs);
  } finally {
    await programs.close();
    rmSync(state, { recursive: true, force: true });
  }
}
