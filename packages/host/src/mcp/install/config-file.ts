/**
 * A file of another program's settings: read whole, written whole or not at all, its first version kept beside it.
 *
 * Links are followed only as far as the folder the file is meant for: a link inside a project must not
 * choose which file of the user gets changed.
 */
import { randomBytes } from 'node:crypto';
import {
  chmodSync,
  closeSync,
  constants,
  copyFileSync,
  fsyncSync,
  mkdirSync,
  openSync,
  readFileSync,
  readlinkSync,
  realpathSync,
  renameSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs';
import { basename, dirname, join, relative, resolve, sep } from 'node:path';
import { ToolError } from '@tool-runtime/protocol';
import { errnoCode } from '../../ops/private-file.ts';
import { configProblem } from './config-problem.ts';

export interface ConfigPlace {
  readonly path: string;
  /** Folder that no link may lead out of. */
  readonly root: string;
}

export interface ConfigFile {
  /** Where the bytes are, links followed. */
  readonly path: string;
  /** Empty when there is no such file. */
  readonly text: string;
  readonly exists: boolean;
}

const MAX_BYTES = 1024 * 1024;
const MAX_LINKS = 20;

export function readConfigFile(place: ConfigPlace): ConfigFile {
  const path = followLinks(place);
  try {
    const stat = statSync(path);
    if (!stat.isFile()) throw configProblem(`Not a regular file: ${place.path}`, 'move it out of the way');
    if (stat.size > MAX_BYTES)
      throw configProblem(`File is larger than ${MAX_BYTES} bytes: ${place.path}`, 'edit it by hand');
    return { path, text: decode(readFileSync(path), place.path), exists: true };
  } catch (thrown) {
    if (errnoCode(thrown) === 'ENOENT') return { path, text: '', exists: false };
    throw errnoCode(thrown) === undefined ? thrown : unusable('read', place.path, thrown);
  }
}

/** Refuses when the file is no longer what was read. */
export function writeConfigFile(place: ConfigPlace, read: ConfigFile, text: string): void {
  const now = readConfigFile(place);
  if (now.path !== read.path || now.text !== read.text || now.exists !== read.exists) {
    throw configProblem(`File was changed meanwhile: ${place.path}`, 'install again');
  }
  try {
    mkdirSync(dirname(read.path), { recursive: true });
    if (read.exists) keepFirstVersion(read.path);
    replace(read, text);
  } catch (thrown) {
    throw unusable('written', place.path, thrown);
  }
}

function replace({ path, exists }: ConfigFile, text: string): void {
  const draft = join(dirname(path), `.${basename(path)}-${randomBytes(8).toString('hex')}`);
  try {
    const file = openSync(draft, constants.O_WRONLY | constants.O_CREAT | constants.O_EXCL, 0o666);
    try {
      writeFileSync(file, text);
      fsyncSync(file);
    } finally {
      closeSync(file);
    }
    if (exists) chmodSync(draft, statSync(path).mode & 0o7777);
    renameSync(draft, path);
  } finally {
    rmSync(draft, { force: true });
  }
}

/** Once: a second install must not replace what was there before the first. */
function keepFirstVersion(path: string): void {
  try {
    copyFileSync(path, `${path}.bak`, constants.COPYFILE_EXCL);
  } catch (thrown) {
    if (errnoCode(thrown) !== 'EEXIST') throw thrown;
  }
}

function followLinks({ path, root }: ConfigPlace): string {
  const found = realPlace(resolve(path), MAX_LINKS);
  const inside = relative(realPlace(resolve(root), MAX_LINKS), found);
  if (inside !== '..' && !inside.startsWith(`..${sep}`) && resolve(inside) !== inside) return found;
  throw new ToolError('E_POLICY', `A link leads out of ${root}: ${path}`, {
    path,
    details: { reason: 'link_outside', target: found, next: 'edit the file it leads to by hand, or replace the link' },
  });
}

/** As `realpath`, also for what does not exist yet, and for links that lead to it. */
function realPlace(path: string, links: number): string {
  try {
    return realpathSync(path);
  } catch (thrown) {
    if (errnoCode(thrown) !== 'ENOENT') throw unusable('read', path, thrown);
  }
  const target = linkTarget(path);
  if (target === undefined)
    return dirname(path) === path ? path : join(realPlace(dirname(path), links), basename(path));
  if (links === 0) throw configProblem(`Too many links: ${path}`, 'replace the link');
  return realPlace(resolve(dirname(path), target), links - 1);
}

function linkTarget(path: string): string | undefined {
  try {
    return readlinkSync(path);
  } catch {
    // Nothing has the name, or something that is no link.
    return undefined;
  }
}

function decode(bytes: Uint8Array, path: string): string {
  try {
    return new TextDecoder('utf-8', { fatal: true, ignoreBOM: true }).decode(bytes);
  } catch (cause) {
    throw new ToolError('E_VALIDATION_FAIL', `File is not UTF-8: ${path}`, {
      path,
      details: { next: 'convert it' },
      cause,
    });
  }
}

function unusable(what: 'read' | 'written', path: string, cause: unknown): ToolError {
  return new ToolError('E_FILE_IO', `File cannot be ${what}: ${path}`, {
    path,
    details: { reason: errnoCode(cause) ?? 'EIO', next: 'check the path and its permissions' },
    cause,
  });
}
