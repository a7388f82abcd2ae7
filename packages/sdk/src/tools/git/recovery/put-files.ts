/**
 * Puts saved files back byte for byte. What is the same already is not written again. What is in the way of a file
 * has been saved before and goes.
 */
import { createHash } from 'node:crypto';
import { isToolError } from '@tool-runtime/protocol';
import { emptyTree } from '../../../git/resolve-revisions.ts';
import { storeFiles, withTemporaryIndex } from './capture-files.ts';
import { createLooker } from './look-at.ts';
import { putTogether } from './put-together.ts';
import { type RawPath, toPlain, toShown } from './raw-path.ts';
import { readStored, type StoredFile } from './read-recovery.ts';
import type { RecoveryContext } from './save-recovery.ts';

/** Answers the raw paths that were written. */
export async function putFiles(context: RecoveryContext, files: readonly StoredFile[]): Promise<readonly RawPath[]> {
  const byGit: StoredFile[] = [];
  const stale: StoredFile[] = [];
  for (const file of files) {
    if (file.mode === '120000' || toPlain(file.path) === undefined) byGit.push(file);
    else if (!(await isThereAlready(context, file))) stale.push(file);
  }
  for await (const { blob, bytes } of readStored(context.git, await withoutWritten(context, stale))) {
    if (!(await putFile(context, blob, bytes))) byGit.push(blob);
  }
  await putByGit(context, byGit);
  return [...stale, ...byGit].map(({ path }) => path);
}

/** Writes those that can be written together in one commit, and answers the others. */
async function withoutWritten(context: RecoveryContext, files: readonly StoredFile[]): Promise<readonly StoredFile[]> {
  const wanted = files.map((file) => ({ path: file.path, blob: file, mode: permissionsOf(file) }));
  const written = await putTogether(context, wanted);
  return files.filter(({ path }) => !written.has(path));
}

async function isThereAlready({ workspace }: RecoveryContext, file: StoredFile): Promise<boolean> {
  const plain = toPlain(file.path) ?? '';
  const stat = await createLooker(workspace).at(plain);
  if (stat?.type !== 'file' || stat.size !== file.size || stat.mode !== permissionsOf(file)) return false;
  const hash = createHash(file.hash.length === 40 ? 'sha1' : 'sha256');
  hash.update(`blob ${file.size}\0`);
  await workspace.readFile(plain, { maxBytes: 0, onPiece: (piece) => hash.update(piece) });
  return hash.digest('hex') === file.hash;
}

function permissionsOf({ permissions, mode }: StoredFile): number {
  return permissions ?? (mode === '100755' ? 0o755 : 0o644);
}

/** False for a name no tool may write: then git has to. */
async function putFile({ workspace }: RecoveryContext, file: StoredFile, bytes: Uint8Array): Promise<boolean> {
  const plain = toPlain(file.path) ?? '';
  try {
    await clearWay({ workspace }, plain);
    await workspace.writeFile(plain, bytes, { createDirs: true, mode: permissionsOf(file), forceMode: true });
    return true;
  } catch (thrown) {
    if (isToolError(thrown) && thrown.code === 'E_POLICY') return false;
    throw thrown;
  }
}

/** A link would be written through, a folder refused. */
async function clearWay({ workspace }: Pick<RecoveryContext, 'workspace'>, path: string): Promise<void> {
  const looker = createLooker(workspace);
  const above = await looker.blockOf(path);
  if (above !== undefined) await workspace.removeFile(above);
  const stat = await looker.at(path);
  if (stat?.type === 'symlink') await workspace.removeFile(path);
  else if (stat?.type === 'directory') await workspace.remove(path, { recursive: true });
}

async function putByGit(context: RecoveryContext, files: readonly StoredFile[]): Promise<void> {
  if (files.length === 0) return;
  const { git } = context;
  await withTemporaryIndex(git, async (index) => {
    await fillIndex(context, index, files);
    await git.run({ words: ['checkout-index', '--force', '--all', '--quiet'], access: 'write', index });
  });
  const regular = files.filter(({ mode }) => mode !== '120000');
  const hashes = await storeFiles(
    git,
    regular.map(({ path }) => path),
  );
  const other = regular.filter(({ hash }, at) => hash !== hashes[at]);
  if (other.length === 0) return;
  context.warn({
    code: 'E_GIT',
    message: `Line endings were converted in files that only git can write: ${other.length}`,
    details: {
      reason: 'converted',
      paths: other.slice(0, 20).map(({ path }) => toShown(path)),
      next: 'read their saved bytes in the recovery point, under files/',
    },
  });
}

async function fillIndex({ git }: RecoveryContext, index: string, files: readonly StoredFile[]): Promise<void> {
  const records = files.map(({ mode, hash, path }) => `${mode} ${hash} 0\t${path}\0`);
  await git.run({
    words: ['update-index', '-z', '--index-info'],
    access: 'write',
    index,
    stdin: Buffer.from(records.join(''), 'latin1'),
  });
}

/** Takes files and links away, and the folders that are empty then. */
export async function removeFiles(context: RecoveryContext, paths: readonly RawPath[]): Promise<void> {
  const { workspace } = context;
  const byGit: RawPath[] = [];
  for (const path of paths) {
    const plain = toPlain(path);
    if (plain === undefined) {
      byGit.push(path);
      continue;
    }
    const stat = await createLooker(workspace).at(plain);
    if (stat === null || stat.type === 'directory') continue;
    try {
      await workspace.removeFile(plain);
    } catch (thrown) {
      if (!isToolError(thrown) || thrown.code !== 'E_POLICY') throw thrown;
      byGit.push(path);
      continue;
    }
    await removeEmptyFolders(context, plain);
  }
  await removeByGit(context, byGit);
}

export async function removeEmptyFolders(
  { workspace }: Pick<RecoveryContext, 'workspace'>,
  path: string,
): Promise<void> {
  for (let slash = path.lastIndexOf('/'); slash > 0; slash = path.lastIndexOf('/', slash - 1)) {
    const folder = path.slice(0, slash);
    if ((await workspace.readDirectory(folder)).length > 0) return;
    await workspace.remove(folder, { recursive: false });
  }
}

/** An index that has them, then an empty one: git takes away what is no longer in it. */
async function removeByGit(context: RecoveryContext, paths: readonly RawPath[]): Promise<void> {
  if (paths.length === 0) return;
  const { git } = context;
  const [nothing, blob = ''] = await Promise.all([
    git.config().then(emptyTree),
    git
      .run({ words: ['hash-object', '-w', '--stdin'], access: 'write', stdin: '' })
      .then(({ stdout }) => stdout.toString('latin1').trim()),
  ]);
  await withTemporaryIndex(git, async (index) => {
    const files = paths.map((path) => ({ path, hash: blob, mode: '100644', size: 0, permissions: undefined }) as const);
    await fillIndex(context, index, files);
    await git.run({ words: ['read-tree', '--reset', '-u', nothing], access: 'write', index });
  });
}
