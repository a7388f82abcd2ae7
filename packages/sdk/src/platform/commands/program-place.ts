/** Where the programs of a command come from, and the environment they start in. */
import { accessSync, constants, statSync } from 'node:fs';
import { delimiter, dirname, isAbsolute, join } from 'node:path';
import type { ShellScript } from '../../contracts/command-list.ts';
import type { CommandRequest, Isolation } from '../../contracts/commands.ts';
import { baseEnvironment, OFFLINE_VARIABLES, type PrivatePlaces } from '../../shell/environment.ts';
import { findShell, type MissingProgram, resolveProgram, SYSTEM_PROGRAMS } from '../processes/resolve-program.ts';
import { cacheVariables } from '../sandbox/package-caches.ts';
import type { SessionSandboxOptions } from '../sandbox/session-sandbox.ts';
import { detectToolchains, shortenHome } from '../toolchains/detect-toolchains.ts';

/** Programs that a project brings along, below the folder a command starts in or one above it. */
export const PROJECT_FOLDERS = ['node_modules/.bin', '.venv/bin', 'venv/bin'];

export interface ProgramPlace {
  readonly workspace: string;
  /** Of the host, in the order they are looked at. */
  readonly folders: readonly string[];
  /** Of the workspace. */
  readonly project: readonly string[];
  /** Where the command starts. Absolute. */
  readonly start: string;
  readonly isSandboxed: boolean;
  readonly variables: Readonly<Record<string, string>>;
  readonly exactProgram?: string | undefined;
}

export function programPlace(
  { programFolders = [], toolchains, exactProgram, caches, writable }: SessionSandboxOptions,
  { isolation, workspace, cwd }: { readonly isolation: Isolation; readonly workspace: string; readonly cwd: string },
): ProgramPlace {
  const start = join(workspace, cwd);
  const isSandboxed = isolation.enforcesNetwork;
  return {
    workspace,
    folders: [...(toolchains?.first ?? []), ...SYSTEM_PROGRAMS, ...programFolders, ...(toolchains?.last ?? [])],
    project: isSandboxed ? projectFolders(workspace, start) : [],
    start,
    isSandboxed,
    variables: { ...toolchains?.env, ...(isSandboxed ? cacheVariables({ caches, writable }) : {}) },
    exactProgram,
  };
}

/** From where the command starts up to the root of the workspace. */
function projectFolders(workspace: string, start: string): readonly string[] {
  const found: string[] = [];
  for (let folder = start; folder.length >= workspace.length; folder = dirname(folder)) {
    found.push(...PROJECT_FOLDERS.map((name) => join(folder, name)).filter(isFolder));
  }
  return found;
}

/** All of the list's, before any runs: a list must not stop halfway because its last program does not exist. */
export function findPrograms({ list }: CommandRequest, place: ProgramPlace) {
  const { folders, workspace, exactProgram, isSandboxed, project, start } = place;
  if (list.script !== undefined) return [[shellFor(list.script, workspace)]];
  const search = {
    folders,
    workspace,
    exactProgram,
    project: isSandboxed ? { folders: project, start } : undefined,
    elsewhere: findOutside,
  };
  return list.pipelines.map(({ commands }) =>
    commands.map(({ argv: [name = '', ...args] }) => ({ name, program: resolveProgram(name, search), args })),
  );
}

/** Startup files and history are for people. What the line means is left as it is outside. */
const READ_BY_SHELLS = /^(?:ENV|BASH_ENV|SHELLOPTS|BASHOPTS|BASH_FUNC_.*)$/;
const BASH_OPTIONS = ['--noprofile', '--norc'];

function shellFor({ text, words }: ShellScript, workspace: string) {
  const { name, program } = findShell({ folders: SYSTEM_PROGRAMS, workspace });
  const options = name === 'bash' ? BASH_OPTIONS : [];
  return { name, program, args: [...options, '-c', text, name, ...words] };
}

/** A program that the operator's own shell would find, and the lines that show it to commands. */
export function findOutside(name: string): MissingProgram | undefined {
  const known = detectToolchains().find(({ path }) => path.some((folder) => isExecutable(join(folder, name))));
  const searched = [...(known?.path ?? []), ...(process.env['PATH'] ?? '').split(delimiter)];
  const folder = searched.find((each) => isOutside(each) && name !== '' && isExecutable(join(each, name)));
  if (folder === undefined) return undefined;
  const lines =
    known === undefined ? `sandbox: { path: [${shortenHome(folder)}] }` : `sandbox: { toolchains: [${known.name}] }`;
  return { found: shortenHome(join(folder, name)), next: `ask the operator to add this to the registry: ${lines}` };
}

function isOutside(folder: string): boolean {
  return isAbsolute(folder) && !SYSTEM_PROGRAMS.includes(folder);
}

function isFolder(path: string): boolean {
  return statSync(path, { throwIfNoEntry: false })?.isDirectory() === true;
}

export function isExecutable(path: string): boolean {
  try {
    accessSync(path, constants.X_OK);
    return statSync(path).isFile();
  } catch {
    // Not there, or not ours to run.
    return false;
  }
}

/**
 * What the caller gives comes last: its names were checked. In a script the programs of the project come first, as in a
 * shell of the project: no name in it is promised to be a program of the host.
 */
export function commandEnvironment(
  request: CommandRequest,
  { places, folders, project, isSandboxed, variables }: ProgramPlace & { readonly places: PrivatePlaces },
): Record<string, string> {
  const { network, list } = request;
  return {
    ...baseEnvironment(process.env, places),
    PATH: (list.script === undefined ? [...folders, ...project] : [...project, ...folders]).join(delimiter),
    ...variables,
    ...(isSandboxed && !network ? OFFLINE_VARIABLES : {}),
    ...variablesOf(request),
  };
}

/** Whatever the environment may hold elsewhere, a shell that starts a script takes no options and no code from it. */
function variablesOf({ env, list }: CommandRequest): CommandRequest['env'] {
  if (list.script === undefined) return env;
  return Object.fromEntries(Object.entries(env).filter(([name]) => !READ_BY_SHELLS.test(name)));
}
