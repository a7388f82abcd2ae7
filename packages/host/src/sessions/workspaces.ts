/** The folders an operator lets sessions work in, each with one runtime that all its sessions share. */
import { realpathSync } from 'node:fs';
import { basename, join } from 'node:path';
import { ToolError } from '@tool-runtime/protocol';
import type { Runtime, RuntimeOptions, Session, SessionOptions } from '@tool-runtime/sdk';
import type { Log } from '../ops/log.ts';
import { createReloadingRuntime, governingFiles } from './reloading-runtime.ts';

export interface HostWorkspace {
  /** Other names that clients may use instead of its path. */
  readonly name: string;
  /** Real path. */
  readonly path: string;
  /** The one in force: another one after the operator changed the registry. Sessions stay with the one they began with. */
  readonly runtime: Runtime;
  openSession(options: SessionOptions): Promise<Session>;
}

export interface Workspaces {
  readonly all: readonly HostWorkspace[];
  /** The first of the operator's list when none is named. */
  find(asked: string | undefined): HostWorkspace;
  /** Tells that the runtime of a workspace is another one now. */
  onChange(listener: (workspace: HostWorkspace) => void): void;
  close(): Promise<void>;
}

export interface WorkspacesOptions {
  readonly folders: readonly string[];
  /** One folder: the state folder itself, as for every other command. Several: one below it for each. */
  readonly state: string | undefined;
  readonly createRuntime: (options: Pick<RuntimeOptions, 'workspace' | 'state'>) => Promise<Runtime>;
  readonly reload?: ReloadOptions;
  /** Names of folders in place of their own. */
  readonly nameOf?: (folder: string) => string;
}

/** Runtimes are opened anew when the operator changes their registry. */
export interface ReloadOptions {
  readonly registry: RuntimeOptions['registry'];
  readonly log: Log;
}

/** All or none: a host whose registry is broken says so when it starts, not to its first client. */
export async function openWorkspaces({ folders, state, ...options }: WorkspacesOptions): Promise<Workspaces> {
  const all: OpenWorkspace[] = [];
  const listeners: ((workspace: HostWorkspace) => void)[] = [];
  const changed = (workspace: HostWorkspace): void => {
    for (const listener of listeners) listener(workspace);
  };
  const close = async (): Promise<void> => {
    await Promise.all(all.map((workspace) => workspace.close()));
  };
  try {
    for (const path of new Set(folders.map((folder) => realpathSync.native(folder)))) {
      const name = freeName(options.nameOf?.(path) ?? (basename(path) || 'root'), all);
      const own = state === undefined || folders.length === 1 ? state : join(state, name);
      all.push(await openWorkspace({ name, path, state: own, changed }, options));
    }
  } catch (thrown) {
    await close();
    throw thrown;
  }
  return {
    all,
    /** By name or by path, as the operator gave it. Below it or spelled through a link is another folder. */
    find(asked) {
      const found = asked === undefined ? all[0] : all.find(({ name, path }) => asked === name || asked === path);
      if (found === undefined) throw notAllowed(all);
      return found;
    },
    onChange: (listener) => void listeners.push(listener),
    close,
  };
}

interface OpenWorkspace extends HostWorkspace {
  close(): Promise<void>;
}

interface Place {
  readonly name: string;
  readonly path: string;
  readonly state: string | undefined;
  changed(workspace: HostWorkspace): void;
}

async function openWorkspace(
  { name, path, state, changed }: Place,
  { createRuntime, reload }: Omit<WorkspacesOptions, 'folders' | 'state'>,
): Promise<OpenWorkspace> {
  const runtimes = createReloadingRuntime({
    open: () => createRuntime({ workspace: path, ...(state === undefined ? {} : { state }) }),
    files: async () =>
      reload === undefined ? [] : governingFiles({ workspace: path, state, registry: reload.registry }),
    onRefused: (error) => reload?.log.warn('registry_refused', { workspace: path, error }),
  });
  const sessions = new Map<Runtime, Set<Promise<unknown>>>();
  let runtime = await runtimes.current();
  const workspace: OpenWorkspace = {
    name,
    path,
    get runtime() {
      return runtime;
    },
    async openSession(options) {
      const from = runtime;
      const ends = sessions.get(from) ?? new Set();
      sessions.set(from, ends);
      // It counts from here: the runtime must not close while the session opens.
      const opening = from.openSession(options);
      const end: Promise<void> = opening
        .then(({ ended }) => ended)
        .then(
          () => {},
          () => {},
        )
        .finally(() => ends.delete(end));
      ends.add(end);
      return opening;
    },
    close: () => runtimes.close(),
  };
  runtimes.onChange(async () => {
    const last = runtime;
    runtime = await runtimes.current();
    reload?.log.info('registry_changed', { workspace: path, fingerprint: runtime.registry.fingerprint });
    changed(workspace);
    await Promise.all(sessions.get(last) ?? []);
    sessions.delete(last);
  });
  return workspace;
}

function freeName(name: string, taken: readonly HostWorkspace[]): string {
  return taken.some((other) => other.name === name) ? `${name}-${taken.length + 1}` : name;
}

/** Says which names there are, not which folders exist. */
function notAllowed(all: readonly HostWorkspace[]): ToolError {
  const names = all.map(({ name }) => name);
  return new ToolError('E_POLICY', 'Workspace is not one of those this host serves', {
    path: 'workspace',
    details: {
      gate: 'session',
      reason: 'workspace_not_allowed',
      allowed: names,
      next: `name one of: ${names.join(', ')}`,
    },
  });
}
