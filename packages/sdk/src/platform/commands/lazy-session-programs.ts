/** Programs whose code (spawning, isolation, proxy, git) is loaded with the first one: most sessions never start any. */
import { once } from '@tool-runtime/protocol/internal';
import type { Spawner } from '../processes/spawned-process.ts';
import type { ProgramsOptions, SessionPrograms } from './session-programs.ts';

/** Opened with the first who starts a program, and the same for all sessions. */
export function lazySpawner(): () => Promise<Spawner> {
  return once(async () => (await import('../processes/spawner.ts')).createSpawner());
}

export interface LazyProgramsOptions extends Omit<ProgramsOptions, 'spawner'> {
  readonly spawner: () => Promise<Spawner>;
}

export function lazySessionPrograms(options: LazyProgramsOptions): SessionPrograms {
  let opening: Promise<SessionPrograms> | undefined;
  let opened: SessionPrograms | undefined;
  const open = once(() => {
    opening = Promise.all([import('./session-programs.ts'), options.spawner()]).then(
      ([{ createSessionPrograms }, spawner]) => {
        opened = createSessionPrograms({ ...options, spawner });
        return opened;
      },
    );
    return opening;
  });
  const close = async (): Promise<void> => {
    const programs = await opening?.catch(() => undefined);
    await programs?.close();
  };
  return {
    commands: {
      start: async (request) => (await open()).commands.start(request),
      stage: async (signal) => (await open()).commands.stage(signal),
      close,
    },
    git: {
      run: async (request) => (await open()).git.run(request),
      config: async (signal) => (await open()).git.config(signal),
      identity: async (signal) => (await open()).git.identity(signal),
      operatorConfig: async () => (await open()).git.operatorConfig(),
      remote: async (name, purpose, signal) => (await open()).git.remote(name, purpose, signal),
      takeNotices: () => opened?.git.takeNotices() ?? [],
      requireChangeable: async (paths) => (await open()).git.requireChangeable(paths),
      files: {
        read: async (name) => (await open()).git.files.read(name),
        write: async (name, bytes, how) => (await open()).git.files.write(name, bytes, how),
        replace: async (name, bytes) => (await open()).git.files.replace(name, bytes),
        remove: async (name) => (await open()).git.files.remove(name),
        list: async (folder) => (await open()).git.files.list(folder),
      },
      close,
    },
    close,
  };
}
