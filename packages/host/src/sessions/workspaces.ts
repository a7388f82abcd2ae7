/** The folders an operator lets sessions work in, each with one runtime that all its sessions share. */
import { realpathSync } from 'node:fs';
import { basename, join } from 'node:path';
import { ToolError } from '@tool-runtime/protocol';
import type { Runtime, RuntimeOptions } from '@tool-runtime/sdk';

export interface HostWorkspace {
  /** How clients may name it besides its path. */
  readonly name: string;
  /** Real path. */
  readonly path: string;
  readonly runtime: Runtime;
}

export interface Workspaces {
  readonly all: readonly HostWorkspace[];
  /** The first of the operator's list when none is named. */
  find(asked: string | undefined): HostWorkspace;
  close(): Promise<void>;
}

export interface WorkspacesOptions {
  readonly folders: readonly string[];
  /** One folder: the state folder itself, as for every other command. Several: one below it for each. */
  readonly state: string | undefined;
  readonly createRuntime: (options: Pick<RuntimeOptions, 'workspace' | 'state'>) => Promise<Runtime>;
}

/** All or none: a host whose registry is broken says so when it starts, not to its first client. */
export async function openWorkspaces({ folders, state, createRuntime }: WorkspacesOptions): Promise<Workspaces> {
  const all: HostWorkspace[] = [];
  const close = async (): Promise<void> => {
    await Promise.all(all.map(({ runtime }) => runtime.close()));
  };
  try {
    for (const path of new Set(folders.map((folder) => realpathSync.native(folder)))) {
      const name = freeName(basename(path) || 'root', all);
      const own = state === undefined || folders.length === 1 ? state : join(state, name);
      const runtime = await createRuntime({ workspace: path, ...(own === undefined ? {} : { state: own }) });
      all.push({ name, path, runtime });
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
    close,
  };
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
