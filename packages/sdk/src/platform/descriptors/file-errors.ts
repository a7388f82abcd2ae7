/** System failures as ToolErrors that say what to do next. They carry the caller's path, never the root's. */
import { type ErrorCode, isToolError, ToolError, toToolError } from '@tool-runtime/protocol';
import { errnoCode } from '../errno-error.ts';
import { SANDBOX_RULE, shownPath } from './path-rules.ts';

interface Explanation {
  readonly code: ErrorCode;
  readonly problem: string;
  readonly next: string;
}

const inside: Explanation = {
  code: 'E_POLICY',
  problem: 'Path leaves the workspace',
  next: 'Use a path inside the workspace; links may lead only to places inside it, by relative targets',
};

function fileIo(problem: string, next: string): Explanation {
  return { code: 'E_FILE_IO', problem, next };
}

const notRegular = fileIo('Not a regular file', 'Only regular files can be read or written');
const outOfDescriptors = fileIo('Too many open files', 'Try again with fewer calls at once');
const outOfSpace = fileIo('No space left to write', 'Free disk space, then try again');

const EXPLANATIONS: Readonly<Record<string, Explanation>> = {
  EXDEV: inside,
  ELOOP: { ...inside, problem: 'Path follows links that leave the workspace or never end' },
  ENOENT: fileIo('File not found', 'Check the spelling, or list the folder first'),
  EACCES: fileIo('Permission denied', 'Ask the owner of the file for access'),
  EPERM: fileIo('Operation not permitted', 'Ask the owner of the file for access'),
  EROFS: fileIo('File system is read-only', 'Write somewhere else'),
  EISDIR: fileIo('Path is a directory', 'Name a file inside it'),
  ENOTDIR: fileIo('Part of the path is not a directory', 'Check the path: only its last name may be a file'),
  EEXIST: fileIo('File exists already', 'Choose another name, or allow replacing it'),
  ENOTEMPTY: fileIo('Directory is not empty', 'Empty it first, or ask for a recursive operation'),
  ENAMETOOLONG: fileIo('Path is too long', 'Use shorter names'),
  ENXIO: notRegular,
  ENODEV: notRegular,
  EMFILE: outOfDescriptors,
  ENFILE: outOfDescriptors,
  ENOSPC: outOfSpace,
  EDQUOT: outOfSpace,
  EFBIG: fileIo('File is too large for the file system', 'Write less, or to several files'),
  EAGAIN: fileIo('Path kept changing while it was resolved', 'Try again when nothing is being renamed'),
  EBUSY: fileIo('File is busy', 'Try again later'),
  EIO: fileIo('Disk or file system failed', 'Look at the system log, then try again'),
  ESTALE: fileIo('File handle is stale', 'Try again; the file system was remounted or exported again'),
  EINVAL: fileIo('File system does not support this', 'Use another file or file system'),
  ETXTBSY: fileIo('File is a running program', 'Stop the program first'),
  EBADF: fileIo('Workspace is closed', 'Open a new session'),
  EILSEQ: fileIo('Link target is not valid UTF-8', 'Use a path without that link'),
};

/**
 * Anything thrown by the file layer, as an error about `path`. ToolErrors pass; other errors without an errno become
 * E_INTERNAL.
 */
export function fileError(thrown: unknown, path: string): ToolError {
  if (isToolError(thrown)) return thrown;
  const errno = errnoCode(thrown);
  if (errno === undefined) return toToolError(thrown);
  const { code, problem, next } = EXPLANATIONS[errno] ?? fileIo(`File operation failed (${errno})`, 'Try again later');
  const shown = shownPath(path);
  const rule = code === 'E_POLICY' ? { rule: SANDBOX_RULE } : {};
  return new ToolError(code, `${problem}: ${shown}`, {
    path: shown,
    details: { ...rule, reason: errno, next },
    cause: thrown,
  });
}

/**
 * The net under all calls: a failure of the file system that no path was named for. Undefined for everything else. The
 * message of the system holds absolute paths, so none of it is passed on.
 */
export function untoldFileError(thrown: unknown): ToolError | undefined {
  const errno = isToolError(thrown) ? undefined : codeIn(thrown);
  const explanation = errno === undefined ? undefined : EXPLANATIONS[errno];
  if (errno === undefined || explanation === undefined) return undefined;
  const { problem, next } = explanation;
  return new ToolError('E_FILE_IO', `${problem} (${errno})`, { details: { reason: errno, next }, cause: thrown });
}

/** What was thrown may be anything, and asking it may throw. */
function codeIn(thrown: unknown): string | undefined {
  try {
    return errnoCode(thrown);
  } catch {
    return undefined;
  }
}

/** System failures of `action`, thrown or rejected, become ToolErrors about `path`. */
export function explained<T>(path: string, action: () => T): T {
  let result: T;
  try {
    result = action();
  } catch (thrown) {
    throw fileError(thrown, path);
  }
  if (!(result instanceof Promise)) return result;
  return result.catch((thrown: unknown) => {
    throw fileError(thrown, path);
  }) as T;
}

function refused(problem: string, path: string, details: { reason: string; next: string }): ToolError {
  const shown = shownPath(path);
  return new ToolError('E_FILE_IO', `${problem}: ${shown}`, { path: shown, details });
}

/** What a move, copy or removal is refused for beyond what the system itself says. */
export function rootRefused(path: string): ToolError {
  const shown = shownPath(path);
  return new ToolError('E_POLICY', `Path is the workspace root: ${shown}`, {
    path: shown,
    details: { rule: SANDBOX_RULE, reason: 'workspace_root', next: 'Name a file or folder inside it' },
  });
}

export function endsInParent(path: string): ToolError {
  return refused('Path ends in `..`', path, { reason: 'EINVAL', next: 'Name the folder itself' });
}

export function targetExists(path: string): ToolError {
  return refused('Target exists already', path, {
    reason: 'EEXIST',
    next: 'Choose another name, or pass overwrite: true',
  });
}

export function typeDiffers(path: string): ToolError {
  return refused('A folder and a file cannot replace each other', path, {
    reason: 'type_differs',
    next: 'Remove the target first, or choose another name',
  });
}

export function sameEntry(path: string): ToolError {
  return refused('Source and target are the same', path, { reason: 'same_entry', next: 'Choose another target' });
}

export function intoItself(path: string): ToolError {
  return refused('A folder cannot go into itself', path, {
    reason: 'into_itself',
    next: 'Choose a target outside the source folder',
  });
}

export function containsSource(path: string): ToolError {
  return refused('Target folder holds the source', path, {
    reason: 'contains_source',
    next: 'Choose a target that is not a parent of the source',
  });
}

export function notEmpty(path: string, count: number): ToolError {
  return refused(`Folder is not empty (${count} ${count === 1 ? 'entry' : 'entries'})`, path, {
    reason: 'ENOTEMPTY',
    next: 'Pass recursive: true to remove it with everything in it',
  });
}

export function specialFile(path: string): ToolError {
  return refused('Not a file, folder or link', path, {
    reason: 'special_file',
    next: 'Remove the device, pipe or socket first, or copy the rest by name',
  });
}

export function mountedInside(path: string): ToolError {
  return refused('Another file system is mounted there', path, {
    reason: 'mounted',
    next: 'Name the folders beside it one by one',
  });
}

export function tooDeep(path: string): ToolError {
  return refused('Folders are nested too deeply', path, {
    reason: 'too_deep',
    next: 'Work on the inner folders first',
  });
}

export function partlyRemoved(path: string, cause: unknown): ToolError {
  const shown = shownPath(path);
  return new ToolError('E_FILE_IO', `Folder is gone, but not all of its content could be removed: ${shown}`, {
    path: shown,
    details: { reason: 'partly_removed', next: 'Remove the temporary folder beside it by hand' },
    cause,
  });
}

export function sourceRemains(path: string, cause: unknown): ToolError {
  const shown = shownPath(path);
  return new ToolError('E_FILE_IO', `Target is complete, but the source could not be removed: ${shown}`, {
    path: shown,
    details: { reason: 'source_remains', next: 'Remove the source by itself' },
    cause,
  });
}
