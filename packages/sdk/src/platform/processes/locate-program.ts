/** Finds a program the way the person at the terminal means it: a path from here, or a name in their PATH. */
import { accessSync, constants, statSync } from 'node:fs';
import { delimiter, join, resolve } from 'node:path';
import { ToolError } from '@tool-runtime/protocol';
import { errnoCode } from '../errno-error.ts';

export interface LocateOptions {
  /** `readable` for a script that an interpreter runs. */
  readonly must: 'run' | 'readable';
}

/** Absolute. Throws E_VALIDATION_FAIL. */
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
