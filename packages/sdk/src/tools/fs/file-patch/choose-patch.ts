/** The one file patch of a diff that is meant for a path. A diff that names another file, or several, is refused. */
import { ToolError } from '@tool-runtime/protocol';
import { safeText } from '@tool-runtime/protocol/internal';
import { withoutPrefix } from '../../../text/diff-names.ts';
import type { FilePatch, UnifiedDiff } from '../../../text/unified-diff.ts';

const SHOWN_FILES = 10;

/** Undefined for an empty diff. */
export function choosePatch({ files }: UnifiedDiff, path: string): FilePatch | undefined {
  const [patch, ...more] = files;
  if (more.length > 0) throw severalFiles(files);
  if (patch !== undefined && !isMeantFor(patch, path)) throw otherFile(patch, path);
  return patch;
}

/** A diff without names is meant for whatever it is applied to. */
function isMeantFor({ oldName, newName }: FilePatch, path: string): boolean {
  const names = [oldName, newName].filter((name) => name !== undefined);
  return names.length === 0 || names.some((name) => isNameOf(name, path));
}

export function isNameOf(name: string, path: string): boolean {
  return isSameFile(name, path) || isSameFile(withoutPrefix(name), path);
}

/** Names in the diff that mean another file than the one it is applied to, such as the old one of a rename. */
export function otherNames({ files }: UnifiedDiff, path: string): readonly string[] {
  const names = files.flatMap(({ oldName, newName }) => [oldName, newName]).filter((name) => name !== undefined);
  return [...new Set(names)].filter((name) => !isNameOf(name, path)).map(withoutPrefix);
}

/** Equal, or one is the end of the other: diffs are made in a folder above or below. */
function isSameFile(name: string, path: string): boolean {
  const [one, other] = [normal(name), normal(path)];
  return one !== '/' && (one.endsWith(other) || other.endsWith(one));
}

/** With a slash before every component, so that an end is an end at a border. */
function normal(path: string): string {
  const parts = path.split('/').filter((part) => part !== '' && part !== '.');
  return `/${parts.join('/')}`;
}

function nameOf({ oldName, newName }: FilePatch): string {
  const name = newName ?? oldName;
  return name === undefined ? '(no name)' : safeText(withoutPrefix(name));
}

function severalFiles(files: readonly FilePatch[]): ToolError {
  const names = files.slice(0, SHOWN_FILES).map(nameOf);
  return new ToolError('E_VALIDATION_FAIL', `Diff changes ${files.length} files: ${names.join(', ')}`, {
    path: 'unified_diff',
    details: { reason: 'several_files', files: names, next: 'Make one call for each file, with its part of the diff' },
  });
}

function otherFile(patch: FilePatch, path: string): ToolError {
  return new ToolError('E_VALIDATION_FAIL', `Diff is for another file: ${nameOf(patch)}`, {
    path: 'unified_diff',
    details: {
      reason: 'other_file',
      named: nameOf(patch),
      path,
      next: 'Name the file the diff is for, or correct its header',
    },
  });
}
