/** The conflicts still marked in a file of the work tree. */
import { isToolError } from '@tool-runtime/protocol';
import type { FileContent, Workspace } from '../../../contracts/workspace.ts';
import { type ConflictHunk, parseConflictMarkers } from '../../../git/parse-conflict-markers.ts';

const MAX_BYTES = 4 * 1024 * 1024;
const MAX_HUNKS = 200;
/** As git itself judges. */
const SAMPLE_BYTES = 8000;

export interface OpenHunks {
  readonly hunks: readonly ConflictHunk[];
  readonly hunks_truncated?: true;
  readonly binary: boolean;
}

type Reader = Pick<Workspace, 'stat' | 'readFile'>;

export async function openHunks(path: string, workspace: Reader): Promise<OpenHunks> {
  const content = await contentOf(path, workspace);
  if (content === undefined) return { hunks: [], binary: false };
  const bytes = Buffer.from(content.bytes.buffer, content.bytes.byteOffset, content.bytes.byteLength);
  if (bytes.subarray(0, SAMPLE_BYTES).includes(0)) return { hunks: [], binary: true };
  const hunks = parseConflictMarkers(bytes.toString('utf8'));
  const isPart = content.truncated || hunks.length > MAX_HUNKS;
  return { hunks: hunks.slice(0, MAX_HUNKS), ...(isPart ? { hunks_truncated: true } : {}), binary: false };
}

/** Undefined where there is no regular file: a side deleted it, or made it a link or folder. */
async function contentOf(path: string, workspace: Reader): Promise<FileContent | undefined> {
  try {
    const stat = await workspace.stat(path);
    return stat?.type === 'file' ? await workspace.readFile(path, { maxBytes: MAX_BYTES }) : undefined;
  } catch (thrown) {
    // Not readable, or a name only git can open.
    if (isToolError(thrown)) return undefined;
    throw thrown;
  }
}
