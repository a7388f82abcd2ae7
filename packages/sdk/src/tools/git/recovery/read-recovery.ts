/** Reads a recovery point back: what it says about itself, and where each saved content is. */
import type { GitRepository } from '../../../contracts/git.ts';
import { gitFailure } from '../../../git/git-failure.ts';
import { readBatch } from '../../../git/read-batch.ts';
import { findObjects } from '../../../git/resolve-revisions.ts';
import { isStateName } from '../operation-state.ts';
import type { BlobMode } from './fast-import.ts';
import type { RawPath } from './raw-path.ts';
import { INDEX_TREE } from './recovery-entries.ts';
import { type RecoveryNote, readNote } from './recovery-note.ts';

export interface StoredBlob {
  /** Below its part of the tree. */
  readonly path: RawPath;
  readonly mode: BlobMode;
  readonly hash: string;
  readonly size: number;
}

export interface StoredFile extends StoredBlob {
  readonly permissions: number | undefined;
}

export interface RecoveryPoint {
  readonly ref: string;
  readonly note: RecoveryNote;
  readonly files: readonly StoredFile[];
  readonly deleted: readonly RawPath[];
  readonly index: StoredBlob | undefined;
  /** Hash of what the index held, as a tree; only of a commit. */
  readonly indexTree: string | undefined;
  /** Second files of a split index. */
  readonly bases: readonly StoredBlob[];
  readonly state: readonly StoredBlob[];
}

/** `ref` has been checked. Throws E_GIT when there is no such point. */
export async function readRecovery(git: GitRepository, ref: string): Promise<RecoveryPoint> {
  const [told, tree, [indexTree]] = await Promise.all([
    git.run({ words: ['cat-file', '--batch'], access: 'read', stdin: `${ref}\n${ref}:manifest\n` }),
    git.run({ words: ['ls-tree', '-r', '-l', '-z', ref], access: 'read', accept: [0, 128] }),
    findObjects(git, [`${ref}:${INDEX_TREE}`]),
  ]);
  const [commit, manifest] = readBatch(told.stdout, ['commit', 'manifest']);
  if (commit?.type !== 'commit' || manifest === undefined || tree.code !== 0) throw unknown();
  const text = commit.bytes.toString('utf8');
  const note = readNote(text.slice(text.indexOf('\n\n')));
  if (note.scope === 'commit' && indexTree === undefined) throw damaged();
  const blobs = storedBlobs(tree.stdout.toString('latin1'));
  const { permissions, deleted } = readManifest(manifest.bytes.toString('latin1'));
  const part = (name: string) => below(blobs, `${name}/`);
  return {
    ref,
    note,
    files: part('files').map((file) => ({ ...file, permissions: permissions.get(file.path) })),
    deleted,
    index: blobs.find(({ path }) => path === 'index'),
    indexTree: note.scope === 'commit' ? indexTree : undefined,
    bases: part('base').filter(({ path }) => /^sharedindex\.[0-9a-f]+$/.test(path)),
    state: part('state').filter(({ path }) => isStateName(path)),
  };
}

function unknown() {
  return gitFailure('Recovery point not found', {
    path: 'recovery',
    reason: 'unknown_recovery',
    next: 'list the recovery points with git_recover and list: true; the newest 100 are kept',
  });
}

function below(blobs: readonly StoredBlob[], prefix: string): readonly StoredBlob[] {
  return blobs
    .filter(({ path }) => path.startsWith(prefix))
    .map((blob) => ({ ...blob, path: blob.path.slice(prefix.length) }));
}

/** `mode blob hash size TAB path` */
function storedBlobs(output: string): readonly StoredBlob[] {
  return output.split('\0').flatMap((record) => {
    const [, mode, hash = '', size = '0', path = ''] =
      /^(100644|100755|120000) blob ([0-9a-f]+) +(\d+)\t(.+)$/s.exec(record) ?? [];
    return mode === undefined ? [] : [{ path, hash, mode: mode as BlobMode, size: Number(size) }];
  });
}

function readManifest(text: string): { permissions: ReadonlyMap<RawPath, number>; deleted: readonly RawPath[] } {
  const permissions = new Map<RawPath, number>();
  const deleted: RawPath[] = [];
  for (const record of text.split('\0')) {
    const [, kind, octal = '', path = ''] = /^([FD]) ([0-7]+|-) (.+)$/s.exec(record) ?? [];
    if (kind === 'D') deleted.push(path);
    else if (kind === 'F' && octal !== '-') permissions.set(path, Number.parseInt(octal, 8) & 0o777);
  }
  return { permissions, deleted };
}

/** Contents by hash, some at a time, so that a large point does not have to fit into memory at once. */
export async function* readStored<Blob extends Pick<StoredBlob, 'hash' | 'size'>>(
  git: GitRepository,
  blobs: readonly Blob[],
): AsyncGenerator<{ readonly blob: Blob; readonly bytes: Buffer }> {
  for (const group of groups(blobs)) {
    const { stdout } = await git.run({
      words: ['cat-file', '--batch'],
      access: 'read',
      stdin: group.map(({ hash }) => `${hash}\n`).join(''),
      maxBytes: GROUP_BYTES + group.reduce((sum, { size }) => sum + size + 200, 0),
    });
    const contents = [
      ...readBatch(
        stdout,
        group.map(({ hash }) => hash),
      ),
    ];
    if (contents.length !== group.length) throw damaged();
    for (const [at, blob] of group.entries()) {
      const { bytes } = contents[at] ?? {};
      if (bytes === undefined) throw damaged();
      yield { blob, bytes };
    }
  }
}

const GROUP_BYTES = 32 * 1024 * 1024;

function groups<Blob extends Pick<StoredBlob, 'size'>>(blobs: readonly Blob[]): readonly (readonly Blob[])[] {
  const made: Blob[][] = [];
  let filled = GROUP_BYTES;
  for (const blob of blobs) {
    if (filled >= GROUP_BYTES) {
      made.push([]);
      filled = 0;
    }
    made.at(-1)?.push(blob);
    filled += blob.size + 200;
  }
  return made;
}

function damaged() {
  return gitFailure('The recovery point is damaged: contents are missing', {
    path: 'recovery',
    reason: 'bad_recovery',
    next: 'choose another one; run git fsck to check the repository',
  });
}
