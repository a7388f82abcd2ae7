/** Artifacts as files (0600) in a folder (0700) of the state folder. Unfinished ones have another name and can be read. */
import { createHash, randomBytes } from 'node:crypto';
import {
  closeSync,
  constants,
  fstatSync,
  mkdirSync,
  openSync,
  readdirSync,
  readSync,
  renameSync,
  rmSync,
  statfsSync,
  statSync,
  writeSync,
} from 'node:fs';
import { dirname, join } from 'node:path';
import { ToolError } from '@tool-runtime/protocol';
import type { ArtifactPage, ArtifactStore, ArtifactWriter, LocalArtifacts } from '../../contracts/artifacts.ts';
import { createDisk, type Disk } from '../descriptors/disk.ts';
import { errnoCode } from '../errno-error.ts';

const HANDLE = /^artifact:([0-9a-f]{32})$/;
const DRAFT_SUFFIX = '.part';

const MAX_AGE_MS = 7 * 24 * 60 * 60 * 1000;
const MAX_BYTES = 1024 * 1024 * 1024;
/** After so many the rest is looked after, or after this part of what may be kept. */
const PRUNE_STRIDE = 64;
const PRUNE_PART = 1 / 8;

export function createArtifactFiles(stateFolder: string, disk: Disk = createDisk()): LocalArtifacts {
  const folder = join(stateFolder, 'artifacts');
  let made = 0;
  let unlooked = 0;
  let mayPass = 0;
  const tidy = (): void => {
    const maxBytes = Math.min(MAX_BYTES, shareOfDisk(folder));
    prune(folder, { maxAgeMs: MAX_AGE_MS, maxBytes, now: Date.now() });
    mayPass = maxBytes * PRUNE_PART;
    unlooked = 0;
  };
  const count = (bytes: number): void => {
    unlooked += bytes;
  };
  return {
    create() {
      mkdirSync(folder, { recursive: true, mode: 0o700 });
      // Only when one is made: most runtimes keep none. And not only once: a host lives long.
      if (made % PRUNE_STRIDE === 0 || unlooked > mayPass) tidy();
      made += 1;
      return createWriter(join(folder, randomBytes(16).toString('hex')), { count, disk });
    },
    read: (handle, range) => readPage(pathOf(folder, handle), handle, range),
    prune: (limits) => prune(folder, limits),
  };
}

/** Half of what they have and could have: the journal lies on the same disk, and without it nothing is called. */
function shareOfDisk(folder: string): number {
  const { bavail, bsize } = statfsSync(folder);
  const kept = listArtifacts(folder).reduce((sum, { size }) => sum + size, 0);
  return (kept + bavail * bsize) / 2;
}

interface Keeping {
  readonly disk: Disk;
  count(bytes: number): void;
}

function createWriter(path: string, { count, disk }: Keeping): ArtifactWriter {
  const draft = `${path}${DRAFT_SUFFIX}`;
  const fd = openSync(draft, constants.O_WRONLY | constants.O_CREAT | constants.O_EXCL | constants.O_NOFOLLOW, 0o600);
  const hasher = createHash('sha256');
  let bytes = 0;
  const handle = `artifact:${path.slice(-32)}`;
  return {
    handle,
    write(chunk) {
      for (let done = 0; done < chunk.length; ) done += writeSync(fd, chunk, done);
      hasher.update(chunk);
      bytes += chunk.length;
      count(chunk.length);
    },
    finish() {
      disk.contentNow(fd);
      closeSync(fd);
      renameSync(draft, path);
      disk.settleNow(dirname(path));
      return { handle, digest: `sha256:${hasher.digest('hex')}`, bytes };
    },
    discard() {
      closeSync(fd);
      rmSync(draft, { force: true });
    },
  };
}

function pathOf(folder: string, handle: string): string {
  const id = HANDLE.exec(handle)?.[1];
  if (id === undefined) throw unknownArtifact(handle);
  return join(folder, id);
}

function readPage(path: string, handle: string, range: { offset: number; length: number }): ArtifactPage {
  // One that is finished meanwhile has its own name by the third look.
  const fd = openIfThere(path) ?? openIfThere(`${path}${DRAFT_SUFFIX}`) ?? openIfThere(path);
  if (fd === undefined) throw unknownArtifact(handle);
  try {
    const totalBytes = fstatSync(fd).size;
    const offset = range.offset < 0 ? Math.max(0, totalBytes + range.offset) : Math.min(range.offset, totalBytes);
    const bytes = Buffer.alloc(Math.min(range.length, totalBytes - offset));
    const length = bytes.length === 0 ? 0 : readSync(fd, bytes, 0, bytes.length, offset);
    return { bytes: bytes.subarray(0, length), offset, totalBytes };
  } finally {
    closeSync(fd);
  }
}

function openIfThere(path: string): number | undefined {
  try {
    return openSync(path, constants.O_RDONLY | constants.O_NOFOLLOW);
  } catch (thrown) {
    if (errnoCode(thrown) === 'ENOENT') return undefined;
    throw thrown;
  }
}

function unknownArtifact(handle: string): ToolError {
  const shown = handle.slice(0, 64).replace(/[^\x20-\x7e]/g, '?');
  return new ToolError('E_FILE_IO', `No such artifact: ${shown}`, {
    details: { next: 'use the handle of an earlier answer; old artifacts are removed after a while' },
  });
}

function prune(folder: string, { maxAgeMs, maxBytes, now }: Parameters<ArtifactStore['prune']>[0]): number {
  const found = listArtifacts(folder).sort((a, b) => b.mtimeMs - a.mtimeMs);
  let kept = 0;
  let removed = 0;
  for (const { path, size, mtimeMs } of found) {
    if (now - mtimeMs <= maxAgeMs && kept + size <= maxBytes) kept += size;
    else {
      rmSync(path, { force: true });
      removed += 1;
    }
  }
  return removed;
}

function listArtifacts(folder: string): { path: string; size: number; mtimeMs: number }[] {
  try {
    return readdirSync(folder).flatMap((name) => {
      const path = join(folder, name);
      const stat = statSync(path, { throwIfNoEntry: false });
      return stat === undefined ? [] : [{ path, size: stat.size, mtimeMs: stat.mtimeMs }];
    });
  } catch (thrown) {
    if (errnoCode(thrown) === 'ENOENT') return [];
    throw thrown;
  }
}
