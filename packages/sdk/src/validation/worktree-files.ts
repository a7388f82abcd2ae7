/** Every file of the work tree that git does not ignore, with the hash of its content; unchanged files are not read. */
import { isToolError, ToolError } from '@tool-runtime/protocol';
import type { AddedLine, ChangedFile, GitRepository, GitRun } from '../contracts/git.ts';
import type { Workspace } from '../contracts/workspace.ts';
import { parseAddedLines } from '../git/parse-diff.ts';
import { parseStatus, type StatusEntry } from '../git/parse-status.ts';
import { literalPathspec } from '../git/pathspec.ts';
import type { ChangeSource } from './change-set.ts';

export interface WorktreeFiles {
  /** Undefined before the first commit. */
  readonly head: string | undefined;
  readonly files: readonly ChangedFile[];
}

export async function worktreeFiles({ git, workspace, signal }: ChangeSource): Promise<WorktreeFiles> {
  const [tracked, status] = await Promise.all([
    git.run({ words: ['ls-files', '-s', '-z'], access: 'read', signal }),
    git.run({
      words: [
        'status',
        '--porcelain=v2',
        '-z',
        '--branch',
        '--untracked-files=all',
        '--no-renames',
        '--ignore-submodules=dirty',
      ],
      access: 'read',
      signal,
    }),
  ]);
  const { head, entries } = parseStatus(status.stdout.toString('utf8'));
  const changed = new Map(entries.map((entry) => [entry.path, entry]));
  const files: ChangedFile[] = [];
  for (const { mode, blob, path } of trackedFiles(tracked.stdout.toString('utf8'))) {
    const entry = changed.get(path);
    if (entry === undefined) files.push({ path, mode, blob, kind: 'unchanged' });
  }
  for (const entry of changed.values()) {
    const file = await changedFile(entry, workspace);
    if (file !== undefined) files.push(file);
  }
  return { head: head ?? undefined, files };
}

/** `mode hash stage TAB path`; the stages of an unmerged file share its path, which status reports once. */
function* trackedFiles(output: string): Generator<{ mode: string; blob: string; path: string }> {
  for (const record of output.split('\0')) {
    const tab = record.indexOf('\t');
    if (tab < 0) continue;
    yield { mode: record.slice(0, 6), blob: record.slice(7, record.indexOf(' ', 7)), path: record.slice(tab + 1) };
  }
}

/** Undefined for a file that tools may not read: it belongs to the runtime, not to the project. */
async function changedFile(entry: StatusEntry, workspace: ChangeSource['workspace']): Promise<ChangedFile | undefined> {
  const { path } = entry;
  const stat = await workspace.stat(path);
  if (stat === null || stat.type === 'directory') return { path, mode: '000000', blob: undefined, kind: 'deleted' };
  const mode = stat.type === 'symlink' ? '120000' : (stat.mode & 0o111) === 0 ? '100644' : '100755';
  const isNew = entry.kind === 'untracked' || entry.index === 'A';
  const kind = isNew ? 'added' : 'modified';
  if (stat.type !== 'file') return { path, mode, blob: undefined, kind };
  try {
    const { sha256 } = await workspace.readFile(path, { maxBytes: 0 });
    return { path, mode, blob: undefined, kind, sha256 };
  } catch (thrown) {
    if (isToolError(thrown) && thrown.code === 'E_POLICY') return undefined;
    throw thrown;
  }
}

/** Names that are shown of files that differ. */
export const SHOWN_DIFFERENCES = 20;

/** Contents of files of the work tree. */
export async function* readFiles(
  files: readonly ChangedFile[],
  { workspace, signal }: { readonly workspace: Workspace; readonly signal: AbortSignal },
) {
  for (const file of files) {
    if (file.kind === 'deleted' || file.mode === '160000' || file.mode === '120000') continue;
    signal.throwIfAborted();
    try {
      const { bytes } = await workspace.readFile(file.path, { signal });
      yield { file, bytes };
    } catch (thrown) {
      // Gone meanwhile, or not ours to read: there is nothing to commit of it either.
      if (!(thrown instanceof ToolError) || thrown.code !== 'E_FILE_IO') throw thrown;
    }
  }
}

interface LinesWanted {
  readonly files: readonly ChangedFile[];
  readonly chosen: readonly ChangedFile[] | undefined;
}

/** Git compares what it tracks; in an untracked file every line counts as added. */
export async function worktreeLines(
  { files, chosen }: LinesWanted,
  { git, workspace, signal }: ChangeSource,
): Promise<readonly AddedLine[]> {
  const diff: DiffRun = (options, pathspecs) => ({
    words: ['diff', ...options, '--ignore-submodules=dirty', 'HEAD', '--', ...pathspecs],
    access: 'read',
    // Before the first commit there is no HEAD, and nothing to compare with.
    accept: [0, 128],
    signal,
  });
  const changed = chosen?.filter(({ kind }) => kind !== 'unchanged');
  const known = await addedLines(git, diff, changed);
  const listed = new Set(known.map(({ path }) => path));
  const fresh: AddedLine[][] = [];
  for (const { path, kind, mode } of chosen ?? files) {
    if (kind !== 'added' || listed.has(path) || mode === '120000') continue;
    const { bytes } = await workspace.readFile(path, { signal });
    const lines = new TextDecoder().decode(bytes).split(/\r?\n/);
    fresh.push(lines.map((text, index) => ({ path, line: index + 1, text })));
  }
  return [...known, ...fresh.flat()];
}

/** A diff with these further options, of these pathspecs only; without any, of everything. */
export type DiffRun = (options: readonly string[], pathspecs: readonly string[]) => GitRun;

const OPTIONS = [
  '-p',
  '-U0',
  '--inter-hunk-context=0',
  '--no-ext-diff',
  '--no-textconv',
  '--no-color',
  '--src-prefix=a/',
  '--dst-prefix=b/',
];
const FILES_PER_RUN = 500;

/**
 * The lines a diff adds, of all files or of chosen ones.
 *
 * Attributes of a repository can declare any file binary, and git then shows none of its lines. For chosen files, which
 * the caller has seen to be text, git is made to show them anyway.
 */
export async function addedLines(
  git: GitRepository,
  diff: DiffRun,
  files: readonly ChangedFile[] | undefined,
): Promise<readonly AddedLine[]> {
  // A name that is not UTF-8 was read with a stand-in and cannot be given back to git.
  if (files === undefined || files.some(({ path }) => path.includes('\uFFFD')))
    return readLines(git, diff(OPTIONS, []));
  const added: AddedLine[][] = [];
  for (let at = 0; at < files.length; at += FILES_PER_RUN) {
    // Without its former name a renamed file would look new from the first line to the last.
    const names = files
      .slice(at, at + FILES_PER_RUN)
      .flatMap(({ path, from }) => (from === undefined ? [path] : [path, from]));
    added.push(await readLines(git, diff([...OPTIONS, '--text'], names.map(literalPathspec))));
  }
  return added.flat();
}

async function readLines(git: GitRepository, run: GitRun): Promise<AddedLine[]> {
  const { stdout } = await git.run(run);
  return [...parseAddedLines(stdout.toString('utf8'))];
}
