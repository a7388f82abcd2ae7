/**
 * Finds programs by name: for calls in fixed folders of the host, never through the environment, and in the workspace
 * only where a sandbox holds them; for people at a terminal also through their PATH.
 */
import { accessSync, constants, realpathSync, statSync } from 'node:fs';
import { delimiter, isAbsolute, join, resolve, sep } from 'node:path';
import { ToolError } from '@tool-runtime/protocol';
import { errnoCode } from '../errno-error.ts';

export const SYSTEM_PROGRAMS: readonly string[] = [
  ...['/usr/local/sbin', '/usr/local/bin', '/usr/sbin', '/usr/bin', '/sbin', '/bin'],
];

interface ProgramSearch {
  /** Absolute, in the order they are looked at. */
  readonly folders: readonly string[];
  /** Nothing below it counts as a program, but for what `project` says. */
  readonly workspace: string;
  /** The one program that is run by its path, because the operator wrote it so. Absolute. */
  readonly exactProgram?: string | undefined;
  /** Programs of the workspace itself, where a sandbox holds them. Left out: none. */
  readonly project?: ProjectPrograms | undefined;
  /** What to do instead, for a name that no folder has. */
  elsewhere?(name: string): MissingProgram | undefined;
}

export interface ProjectPrograms {
  /** Looked at last: no file of the workspace stands in for a program of the host. Absolute. */
  readonly folders: readonly string[];
  /** Where relative paths begin. Absolute. */
  readonly start: string;
}

export interface MissingProgram {
  /** Where it is, although commands cannot see it. */
  readonly found: string;
  readonly next: string;
}

/** The absolute path. Throws E_SHELL. */
export function resolveProgram(name: string, search: ProgramSearch): string {
  const { folders, workspace, exactProgram, project } = search;
  if (name === exactProgram && isProgram(name, workspace)) return name;
  if (name.includes('/')) return relativeProgram(name, search);
  const found =
    findProgram(name, { folders, workspace }) ??
    project?.folders.map((folder) => join(folder, name)).find((path) => name !== '' && isExecutable(path));
  if (found !== undefined) return found;
  const outside = search.elsewhere?.(name);
  if (outside === undefined) throw notFound(name, 'use an installed program, or ask the operator to install it');
  throw notFound(name, outside.next, outside.found);
}

/** For scripts: bash, or what the system has for it. Throws E_SHELL. */
export function findShell(search: ProgramSearch): { readonly name: 'bash' | 'sh'; readonly program: string } {
  const bash = findProgram('bash', search);
  if (bash !== undefined) return { name: 'bash', program: bash };
  return { name: 'sh', program: resolveProgram('sh', search) };
}

function findProgram(name: string, { folders, workspace }: ProgramSearch): string | undefined {
  return folders.map((folder) => join(folder, name)).find((path) => isProgram(path, workspace));
}

function relativeProgram(name: string, { workspace, project }: ProgramSearch): string {
  if (project === undefined || isAbsolute(name)) throw notFound(name, 'give the bare name of a program');
  const path = join(project.start, name);
  if (`${path}${sep}`.startsWith(`${workspace}${sep}`) && isExecutable(path)) return path;
  throw notFound(name, 'name an executable file of the workspace, relative to cwd');
}

function isProgram(path: string, workspace: string): boolean {
  return isExecutable(path) && !`${realpathSync.native(path)}${sep}`.startsWith(`${workspace}${sep}`);
}

function isExecutable(path: string): boolean {
  try {
    accessSync(path, constants.X_OK);
    return statSync(path).isFile();
  } catch (thrown) {
    if (errnoCode(thrown) === undefined) throw thrown;
    return false;
  }
}

function notFound(name: string, next: string, outside?: string): ToolError {
  const shown = name.length > 80 ? `${name.slice(0, 80)}…` : name;
  const place = outside === undefined ? '' : ` (found at ${outside}, outside the sandbox)`;
  return new ToolError('E_SHELL', `Program not found: ${shown}${place}`, {
    path: 'cmd',
    details: {
      reason: outside === undefined ? 'not_found' : 'outside_sandbox',
      ...(outside === undefined ? {} : { found: outside }),
      next,
    },
  });
}

interface LocateOptions {
  /** `readable` for a script that an interpreter runs. */
  readonly must: 'run' | 'readable';
}

/**
 * Finds a program the way a person at the terminal means it: a path from here, or a name in their PATH. Absolute.
 * Throws E_VALIDATION_FAIL.
 */
export function locateProgram(word: string, { must }: LocateOptions): string {
  const here = resolve(word);
  const places = word.includes('/') || must === 'readable' ? [here] : [here, ...inSearchPath(word)];
  const files = places.filter(isFile);
  const mode = must === 'run' ? constants.X_OK : constants.R_OK;
  const found = files.find((path) => isAccessible(path, mode));
  if (found !== undefined) return found;
  const reason = files.length === 0 ? 'not_found' : 'not_accessible';
  const thing = must === 'run' ? 'Program' : 'File';
  const problem = `${thing} ${files.length === 0 ? 'not found' : `is not ${must === 'run' ? 'executable' : 'readable'}`}`;
  const next = files.length === 0 ? 'give its path' : 'change its mode, or name the interpreter that runs it';
  throw new ToolError('E_VALIDATION_FAIL', `${problem}: ${word}`, { details: { reason, next } });
}

function inSearchPath(name: string): string[] {
  const folders = (process.env['PATH'] ?? '').split(delimiter).filter((folder) => folder !== '');
  return folders.map((folder) => join(folder, name));
}

function isFile(path: string): boolean {
  return statSync(path, { throwIfNoEntry: false })?.isFile() === true;
}

function isAccessible(path: string, mode: number): boolean {
  try {
    accessSync(path, mode);
    return true;
  } catch (thrown) {
    if (errnoCode(thrown) === undefined) throw thrown;
    return false;
  }
}
