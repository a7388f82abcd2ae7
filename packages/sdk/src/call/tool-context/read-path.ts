/** The state of a path or repository, in a form that can be kept and compared later. */
import { createHash } from 'node:crypto';
import type { GitRepository } from '../../contracts/git.ts';
import type { Reading, SubjectReader } from '../../contracts/rehearsal.ts';
import type { FileStat, Workspace } from '../../contracts/workspace.ts';
import { readGit } from '../../git/read-git.ts';

const MAX_ENTRIES = 2000;
const MAX_TREE_BYTES = 64 * 1024 * 1024;

export interface PathReading extends Reading {
  readonly stat: FileStat | null;
  /** Lower-case hex; of regular files only. */
  readonly sha256: string | null;
  /** Files, folders and links at and below the path; none when there is nothing. */
  readonly entries: number;
  /** Size of the files among them. */
  readonly bytes: number;
  /** Links have no content that could be compared, only their identity: a copy of one cannot be recognised. */
  readonly hasLinks: boolean;
}

export const MISSING: PathReading = {
  ...{ content: 'missing', exact: 'missing', stat: null, sha256: null },
  ...{ entries: 0, bytes: 0, hasLinks: false },
};

const PATH = 'path:';

/** Of the name itself: links are not followed. Throws for a tree that is too large to compare. */
export async function readPath(workspace: Workspace, path: string): Promise<PathReading> {
  const stat = await workspace.stat(path);
  if (stat === null) return MISSING;
  const reading = await contentOf(workspace, path, stat);
  return { ...reading, stat, exact: `${reading.content}@${stat.identity}:${stat.mtimeMs}` };
}

export function fileContent(mode: number, sha256: string): string {
  return `file:${mode.toString(8)}:${sha256}`;
}

type Content = Omit<PathReading, 'stat' | 'exact'>;

async function contentOf(workspace: Workspace, path: string, stat: FileStat): Promise<Content> {
  if (stat.type === 'directory') return treeContent(workspace, path, stat);
  const leaf = { entries: 1, bytes: 0, sha256: null, hasLinks: false };
  if (stat.type === 'file') {
    const { sha256, size } = await workspace.readFile(path, { maxBytes: 0 });
    return { ...leaf, content: fileContent(stat.mode, sha256), sha256, bytes: size };
  }
  return { ...leaf, content: `${stat.type}:${stat.identity}:${stat.mtimeMs}`, hasLinks: true };
}

/** Names, modes and contents of everything below; an empty folder has the digest of nothing. */
async function treeContent(workspace: Workspace, top: string, { mode }: FileStat): Promise<Content> {
  const digest = createHash('sha256');
  const total = { entries: 1, bytes: 0, hasLinks: false };
  for (const folders = [top]; folders.length > 0; ) {
    const folder = folders.pop() as string;
    const items = [...(await workspace.readDirectory(folder))].sort((one, other) => (one.name < other.name ? -1 : 1));
    for (const { name } of items) {
      const path = `${folder}/${name}`;
      const stat = await workspace.stat(path);
      if (stat === null) continue;
      total.entries += 1;
      if (stat.type === 'file') total.bytes += stat.size;
      if (total.entries > MAX_ENTRIES || total.bytes > MAX_TREE_BYTES) throw new TypeError(`Tree is too large: ${top}`);
      const isFolder = stat.type === 'directory';
      if (isFolder) folders.push(path);
      const { content, hasLinks } = isFolder ? emptyFolder(stat.mode) : await contentOf(workspace, path, stat);
      total.hasLinks ||= hasLinks;
      digest.update(JSON.stringify([path.slice(top.length), content]));
    }
  }
  return { ...total, ...emptyFolder(mode, digest.digest('hex')), sha256: null, hasLinks: total.hasLinks };
}

function emptyFolder(mode: number, digest = ''): { readonly content: string; readonly hasLinks: boolean } {
  return { content: `directory:${mode.toString(8)}:${digest}`, hasLinks: false };
}

/**
 * Reads the subjects of expected changes: paths of a workspace and, where there is one, the repository. Without a
 * repository its subjects cannot be read. A subject that cannot be read for any reason counts as unreadable.
 */
export async function subjectReader(
  workspace: Workspace,
  git: Pick<GitRepository, 'run' | 'files'> | undefined,
): Promise<SubjectReader> {
  return {
    root: await rootOf(workspace),
    async read(subject): Promise<Reading | undefined> {
      try {
        if (subject.startsWith(PATH)) return await readPath(workspace, subject.slice(PATH.length));
        return git === undefined ? undefined : await readGit(git, subject);
      } catch {
        // Too large, not readable, no repository any more: then it cannot be compared.
        return undefined;
      }
    },
  };
}

export async function rootOf(workspace: Workspace): Promise<string> {
  return (await workspace.stat('.'))?.identity ?? '';
}
