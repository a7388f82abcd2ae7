/** What a move, copy or removal is refused for beyond what the system itself says. */
import { ToolError } from '@tool-runtime/protocol';
import { SANDBOX_RULE, shownPath } from './path-rules.ts';

function refused(problem: string, path: string, details: { reason: string; next: string }): ToolError {
  const shown = shownPath(path);
  return new ToolError('E_FILE_IO', `${problem}: ${shown}`, { path: shown, details });
}

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
