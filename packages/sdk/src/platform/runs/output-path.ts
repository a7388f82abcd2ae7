/**
 * A file a tool says it made: it must be a regular file of its own, below the run folder, reached through no link.
 *
 * It is opened name by name and checked by descriptor, so what is hashed is what was checked. A second name for the same
 * file is refused: it may lie anywhere, and change there.
 */
import { createHash } from 'node:crypto';
import { closeSync, constants, createReadStream, fstatSync, openSync } from 'node:fs';
import { ToolError } from '@tool-runtime/protocol';
import type { ArtifactRef, ArtifactStore } from '../../contracts/artifacts.ts';
import { isAbsolutePath, pathFault } from '../../contracts/path-text.ts';
import type { MaybePromise } from '../../contracts/workspace.ts';
import { openEntry, reopenDirectory } from '../descriptors/directory-entry.ts';
import { listEntries } from '../descriptors/directory-reader.ts';
import { readContent } from '../descriptors/file-content.ts';
import { type HeldFolder, openBelow } from '../descriptors/held-path.ts';
import { withStandingFlags } from '../descriptors/native-calls.ts';
import { shownPath } from '../descriptors/path-rules.ts';
import { errnoCode } from '../errno-error.ts';
import { O_PATH } from '../open-flags.ts';

interface OutputFacts {
  readonly bytes: number;
  /** `sha256:` + hex. */
  readonly digest: string;
}

export interface OutputLimits {
  readonly maxBytes?: number;
  readonly signal?: AbortSignal | undefined;
}

const DEFAULT_MAX_BYTES = 1024 ** 3;
const VOLUME = /^[A-Za-z]:/;

/** Throws E_VALIDATION_FAIL with `details.reason`: what is wrong is always something about the path. */
export async function checkOutputPath(
  folder: HeldFolder,
  path: string,
  { maxBytes = DEFAULT_MAX_BYTES, signal }: OutputLimits = {},
): Promise<OutputFacts> {
  const fd = openOutput(folder, path, maxBytes);
  // From here on the descriptor is closed by the reader.
  const { size, sha256 } = await readContent(fd, { maxBytes: 0, ...(signal === undefined ? {} : { signal }) });
  return { bytes: size, digest: `sha256:${sha256}` };
}

/** The digest of any file, read piece by piece. Throws E_FILE_IO when it cannot be read. */
export async function fileDigest(path: string): Promise<string> {
  try {
    const { sha256 } = await readContent(openSync(path, withStandingFlags(constants.O_RDONLY)), { maxBytes: 0 });
    return `sha256:${sha256}`;
  } catch (thrown) {
    const code = errnoCode(thrown);
    if (code === undefined) throw thrown;
    throw new ToolError('E_FILE_IO', `File cannot be read: ${code}`, { details: { reason: code }, cause: thrown });
  }
}

/** Descriptor of an output that passed, for reading it once more. The caller closes it. */
export function openOutput({ dirFd }: HeldFolder, path: string, maxBytes: number = DEFAULT_MAX_BYTES): number {
  const parts = partsOf(path);
  const name = parts.pop() ?? '';
  try {
    const parent = openBelow(dirFd, parts);
    try {
      return openJudged(parent, name, { path, maxBytes });
    } finally {
      closeSync(parent);
    }
  } catch (thrown) {
    const code = errnoCode(thrown);
    if (code === undefined) throw thrown;
    throw refused(path, REASONS[code] ?? 'unreadable', thrown);
  }
}

const REASONS: Readonly<Record<string, string>> = {
  ENOENT: 'missing',
  ELOOP: 'link',
  // A link where a folder was wanted reads like this too.
  ENOTDIR: 'link',
  ENAMETOOLONG: 'malformed',
};

function partsOf(path: string): string[] {
  if (pathFault(path) !== undefined) throw refused(path, 'malformed');
  if (isAbsolutePath(path)) throw refused(path, VOLUME.test(path) ? 'volume' : 'absolute');
  const parts = path.split('/');
  if (parts.some((part) => part === '' || part === '.' || part === '..')) throw refused(path, 'traversal');
  // A reader on another system would take it for a separator.
  if (path.includes('\\')) throw refused(path, 'malformed');
  return parts;
}

/** First as a bare handle: to open a device or a pipe for reading is already to use it. */
function openJudged(dirFd: number, name: string, wanted: { readonly path: string; readonly maxBytes: number }): number {
  const handle = openEntry({ dirFd, name }, O_PATH);
  try {
    const stat = fstatSync(handle);
    if (stat.isSymbolicLink()) throw refused(wanted.path, 'link');
    if (!stat.isFile()) throw refused(wanted.path, 'not_regular');
    if (stat.nlink !== 1) throw refused(wanted.path, 'hard_link');
    if (stat.size > wanted.maxBytes) throw refused(wanted.path, 'too_large');
    return reopenDirectory(handle, constants.O_RDONLY);
  } finally {
    closeSync(handle);
  }
}

function refused(path: string, reason: string, cause?: unknown): ToolError {
  const shown = shownPath(path);
  return new ToolError('E_VALIDATION_FAIL', `Output path is not valid: ${shown}`, {
    path: shown,
    details: { reason },
    ...(cause === undefined ? {} : { cause }),
  });
}

interface RecordedOutput {
  readonly path: string;
  /** `sha256:` + hex. */
  readonly digest: string;
}

/**
 * Gives out the bytes of an output piece by piece, once they are known to be the recorded ones. Throws
 * E_VALIDATION_FAIL for a path that is no output, and E_POLICY for other bytes than recorded: before the first piece,
 * or after the last one when they changed in between.
 */
export async function passOutput(
  folder: HeldFolder,
  { path, digest }: RecordedOutput,
  take: (piece: Uint8Array) => MaybePromise<void>,
): Promise<void> {
  const { bytes, digest: found } = await checkOutputPath(folder, path);
  if (found !== digest) throw changed(path);
  if (bytes === 0) return;
  const hasher = createHash('sha256');
  const stream = createReadStream('', { fd: openOutput(folder, path), start: 0, end: bytes - 1 });
  for await (const piece of stream) {
    hasher.update(piece as Buffer);
    await take(piece as Buffer);
  }
  if (`sha256:${hasher.digest('hex')}` !== digest) throw changed(path);
}

function changed(path: string): ToolError {
  return new ToolError('E_POLICY', `Output is not what the run left: ${path}`, {
    path,
    details: { reason: 'digest_mismatch', next: 'run: tool-runtime runs verify' },
  });
}

interface OutputKeeping {
  readonly path: string;
  /** As it was checked. */
  readonly digest: string;
  readonly artifacts: ArtifactStore;
  /** Values that must not be in it. */
  readonly forbidden: readonly string[];
}

/**
 * Keeps an output of a run as an artifact, unless it is not what was checked or holds what must not leave. The reason
 * it was not kept: `secret` or `changed`. Throws E_VALIDATION_FAIL for a path that is no output any more.
 */
export async function keepOutput(
  folder: HeldFolder,
  keeping: OutputKeeping,
): Promise<ArtifactRef | 'secret' | 'changed'> {
  const fd = openOutput(folder, keeping.path);
  const writer = keeping.artifacts.create();
  const search = createSearch(keeping.forbidden);
  let isKept = false;
  try {
    const { sha256 } = await readContent(fd, {
      maxBytes: 0,
      onPiece(piece) {
        search.add(piece);
        writer.write(piece);
      },
    });
    if (search.hasFound()) return 'secret';
    if (`sha256:${sha256}` !== keeping.digest) return 'changed';
    isKept = true;
    return writer.finish();
  } finally {
    if (!isKept) writer.discard();
  }
}

/** Finds a value also where two pieces meet. */
function createSearch(values: readonly string[]) {
  const wanted = values.map((value) => Buffer.from(value));
  const overlap = Math.max(0, ...wanted.map(({ length }) => length - 1));
  let tail = Buffer.alloc(0);
  let isFound = false;
  return {
    add(piece: Uint8Array): void {
      if (isFound || wanted.length === 0) return;
      const text = Buffer.concat([tail, piece]);
      isFound = wanted.some((value) => text.includes(value));
      tail = Buffer.from(text.subarray(Math.max(0, text.length - overlap)));
    },
    hasFound: () => isFound,
  };
}

const OUTPUTS = 'outputs';
const MAX_DEPTH = 32;

/**
 * What a tool left below `outputs/`, for a run whose result does not say. No link is followed.
 *
 * Paths relative to the run folder, sorted: everything that is no folder, links and pipes too, so that each is judged
 * like an output a tool names itself. Stops after `max` and one more, which says that there are others.
 */
export async function findOutputs({ dirFd }: HeldFolder, max: number): Promise<readonly string[]> {
  const found: string[] = [];
  const folders: string[][] = [[OUTPUTS]];
  for (let parts = folders.pop(); parts !== undefined && found.length <= max; parts = folders.pop()) {
    for (const { name, type } of await entriesOf(dirFd, parts)) {
      // A name that is no UTF-8 cannot be written into a result.
      if (typeof name !== 'string') continue;
      if (type !== 'directory') found.push([...parts, name].join('/'));
      else if (parts.length < MAX_DEPTH) folders.push([...parts, name]);
    }
  }
  return found.sort().slice(0, max + 1);
}

/** Nothing where the folder is missing, a link or no folder. */
async function entriesOf(dirFd: number, parts: readonly string[]) {
  let fd: number | undefined;
  try {
    fd = openBelow(dirFd, parts);
    return await listEntries(fd);
  } catch (thrown) {
    if (!['ENOENT', 'ENOTDIR', 'ELOOP', 'EACCES'].includes(errnoCode(thrown) ?? '')) throw thrown;
    return [];
  } finally {
    if (fd !== undefined) closeSync(fd);
  }
}
