/** The programs of one session, commands and git, in one sandbox. */
import type { OpenCommandRunner } from '../../contracts/commands.ts';
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
  readonly commands: OpenCommandRunner;
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
