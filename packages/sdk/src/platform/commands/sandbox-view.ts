/** What commands would find inside the sandbox of a workspace, for people who set it up. Starts no command. */
import { join } from 'node:path';
import { isToolError } from '@tool-runtime/protocol';
import type { WallProblem } from '../../contracts/commands.ts';
import type { Registry } from '../../contracts/registry.ts';
import { createOverlays, type OverlayOptions } from '../overlay/overlay-mounts.ts';
import { SYSTEM_PROGRAMS } from '../processes/resolve-program.ts';
import { createSessionSandbox, type SessionSandboxOptions } from '../sandbox/session-sandbox.ts';
import { detectToolchains, shortenHome } from '../toolchains/detect-toolchains.ts';
import { showToolchains } from '../toolchains/shown-toolchains.ts';
import { findOutside, isExecutable, PROJECT_FOLDERS } from './program-place.ts';

export interface SandboxView {
  /** Found on this machine. */
  readonly toolchains: readonly ViewedToolchain[];
  /** Where commands find a program, as people write paths. */
  locate(program: string): LocatedProgram;
}

export interface ViewedToolchain {
  readonly name: string;
  readonly folders: readonly string[];
  readonly isShown: boolean;
}

export interface LocatedProgram {
  readonly state: 'inside' | 'outside' | 'missing';
  /** Undefined when it is missing. */
  readonly path?: string;
  /** For one outside: what to add to the registry. */
  readonly next?: string;
}

export interface ViewOptions {
  readonly registry: Pick<Registry, 'sandbox' | 'spot'>;
  /** Absolute. */
  readonly workspace: string;
  readonly state: string;
}

export function viewSandbox(options: ViewOptions): SandboxView {
  const { workspace } = options;
  const { readPaths, first, last } = showToolchains(options);
  const project = PROJECT_FOLDERS.map((name) => join(workspace, name));
  const folders = [...first, ...SYSTEM_PROGRAMS, ...last, ...project];
  return {
    toolchains: detectToolchains().map(({ name, show }) => ({
      name,
      folders: show.map((folder) => shortenHome(folder)),
      isShown: show.every((folder) => folder.startsWith('/usr/') || readPaths.includes(folder)),
    })),
    locate(program) {
      const found = folders.map((folder) => join(folder, program)).find(isExecutable);
      if (found !== undefined) return { state: 'inside', path: shortenHome(found) };
      const outside = findOutside(program);
      return outside === undefined
        ? { state: 'missing' }
        : { state: 'outside', path: outside.found, next: outside.next };
    },
  };
}

export interface WallCheck {
  /** `bubblewrap` or `none`. */
  readonly isolation: string;
  /** What is missing, and what to do. */
  readonly problem?: WallProblem;
  /** Why commands cannot run on an overlay (`effects`), where the sandbox works. */
  readonly overlayProblem?: string;
}

/** Tried, not guessed. */
export async function tryWall(
  registry: Registry,
  places: { readonly workspace: Exclude<SessionSandboxOptions['workspace'], string>; readonly state: string },
): Promise<WallCheck> {
  const toolchains = showToolchains({ registry, workspace: places.workspace.path, state: places.state });
  const { isolation: name } = registry;
  const { isolation, workspace, spawner } = createSessionSandbox({
    ...{ ...places, isolation: name, allowedDomains: [], toolchains },
  });
  const problem = await isolation.check();
  if (problem !== undefined) return { isolation: isolation.name, problem };
  const overlayProblem = isolation.enforcesNetwork
    ? await tryOverlay({ workspace, spawner, state: places.state })
    : undefined;
  return { isolation: isolation.name, ...(overlayProblem === undefined ? {} : { overlayProblem }) };
}

async function tryOverlay(options: OverlayOptions): Promise<string | undefined> {
  const overlays = createOverlays(options);
  try {
    await (await overlays.mount()).release();
    return undefined;
  } catch (thrown) {
    if (!isToolError(thrown)) throw thrown;
    return thrown.message;
  } finally {
    await overlays.close();
  }
}
