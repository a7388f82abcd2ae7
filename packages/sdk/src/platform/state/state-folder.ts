/**
 * Where the runtime keeps what it must remember: one private folder per workspace, never inside the workspace, where
 * the tools it governs could reach it.
 *
 * The folder is ours and closed to everyone else (0700), which is what makes the files in it safe from being swapped.
 */
import { randomBytes } from 'node:crypto';
import { chmodSync, linkSync, lstatSync, mkdirSync, readdirSync, realpathSync, type Stats, statSync } from 'node:fs';
import { homedir } from 'node:os';
import { basename, dirname, isAbsolute, join, resolve } from 'node:path';
import { syncFolder } from '../descriptors/disk.ts';
import { inState, isOwn, isPrivate, unsafeState } from '../descriptors/state-safety.ts';
import { sha256Hex } from '../digest.ts';
import { errnoCode } from '../errno-error.ts';
import { openStateFile, placeDraft, readStateFile, readStateText, writeStateText } from './state-file.ts';

const FOLDER_NAME = 'tool-runtime';

export interface StateFolder {
  /** Real path. */
  readonly path: string;
  /** The 32 random bytes all digests of this folder are keyed with; made on first use. */
  key(): Buffer;
  /** The path of a file (0600) in the folder, created empty when missing. */
  file(name: string): string;
  /** Undefined when there is no such file. */
  readText(name: string): string | undefined;
  /** Readers see the old text or the new one, never half. */
  writeText(name: string, text: string): void;
}

export type Environment = Readonly<Record<string, string | undefined>>;

/** `$TOOL_RUNTIME_STATE`, else the XDG state folder, else the one in the home folder; then a name for the workspace. */
export function defaultStateFolder(workspace: string, environment: Environment): string {
  const name = sha256Hex(inState(() => realpathSync.native(workspace))).slice(0, 16);
  const chosen = environment['TOOL_RUNTIME_STATE'];
  if (chosen !== undefined && chosen !== '') return join(resolve(chosen), name);
  const xdg = environment['XDG_STATE_HOME'];
  // The XDG rules say that a relative path there is to be ignored.
  if (xdg !== undefined && isAbsolute(xdg)) return join(xdg, FOLDER_NAME, name);
  return join(environment['HOME'] || homedir(), '.local', 'state', FOLDER_NAME, name);
}

/** Creates the folder (0700) or checks that it is safe. Throws ToolError otherwise, with nothing created. */
export function openStateFolder(path: string, options: { readonly workspace?: string } = {}): StateFolder {
  const named = resolve(path);
  const real = inState(() => {
    if (options.workspace !== undefined) refuseInside(named, options.workspace);
    syncParents(named, mkdirSync(named, { recursive: true, mode: 0o700 }));
    checkFolder(named, lstatSync(named));
    return join(realpathSync.native(dirname(named)), basename(named));
  });
  return {
    path: real,
    key: () => readOrCreateKey(real),
    file: (name) => openStateFile(real, name),
    readText: (name) => readStateText(real, name),
    writeText: (name, text) => writeStateText(real, name, text),
  };
}

/** `made`: the first folder that was made on the way. A new folder is on the disk when the one that holds it is. */
function syncParents(path: string, made: string | undefined): void {
  if (made === undefined) return;
  for (let folder = path; folder.length >= made.length; folder = dirname(folder)) syncFolder(dirname(folder));
}

function checkFolder(path: string, stat: Stats): void {
  if (stat.isSymbolicLink()) throw unsafeState('it is a symbolic link', 'name the folder itself');
  if (!isOwn(stat)) throw unsafeState('it belongs to another user', 'name a folder of this user');
  if (isPrivate(stat)) return;
  // A folder made by hand has the usual mode; with nothing in it yet, closing it is not too late.
  if (readdirSync(path).length > 0) throw unsafeState('others may enter it', 'chmod 700 the folder');
  chmodSync(path, 0o700);
}

/** By identity of the folders on the way up, not by spelling: links, case and mounts cannot hide where it lies. */
function refuseInside(path: string, workspace: string): void {
  const root = identity(statSync(workspace));
  for (let folder = nearestExisting(path); ; folder = dirname(folder)) {
    if (identity(statSync(folder)) === root) {
      throw unsafeState('it lies inside the workspace', 'name a folder outside the workspace');
    }
    if (folder === dirname(folder)) return;
  }
}

function nearestExisting(path: string): string {
  for (let candidate = path; ; candidate = dirname(candidate)) {
    try {
      return realpathSync.native(candidate);
    } catch (thrown) {
      if (errnoCode(thrown) !== 'ENOENT' || candidate === dirname(candidate)) throw thrown;
    }
  }
}

function identity(stat: Stats): string {
  return `${stat.dev}:${stat.ino}`;
}

export const KEY_BYTES = 32;
export const KEY_FILE = 'journal.key';
export const SEALED_FILE = 'journal.db';

/**
 * The key of a state folder.
 *
 * It is linked into place only when it is whole: of two processes that start at once, one wins and both use its key.
 * A folder with a journal but no key has lost it; a new key would silently break the chain, so none is made.
 */
function readOrCreateKey(folder: string): Buffer {
  const path = join(folder, KEY_FILE);
  const found = readKey(path);
  if (found !== undefined) return found;
  // The key always comes before the journal, so a journal seen here may only mean that both were made just now.
  if (lstatSync(join(folder, SEALED_FILE), { throwIfNoEntry: false }) === undefined) createKey(folder, path);
  const key = readKey(path);
  if (key === undefined) {
    throw unsafeState('journal.key is missing', 'restore journal.key, or start with an empty state folder');
  }
  return key;
}

function readKey(path: string): Buffer | undefined {
  const key = readStateFile(path);
  if (key === undefined || key.length === KEY_BYTES) return key;
  throw unsafeState('journal.key has the wrong length', 'restore journal.key');
}

function createKey(folder: string, path: string): void {
  inState(() =>
    placeDraft(folder, randomBytes(KEY_BYTES), (draft) => {
      try {
        linkSync(draft, path);
      } catch (thrown) {
        // Another process was first; its key is the one.
        if (errnoCode(thrown) !== 'EEXIST') throw thrown;
      }
    }),
  );
}
