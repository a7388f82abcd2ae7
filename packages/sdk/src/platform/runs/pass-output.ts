/** Hands out the bytes of an output, piece by piece, once they are known to be the ones that were recorded. */
import { createHash } from 'node:crypto';
import { createReadStream } from 'node:fs';
import { ToolError } from '@tool-runtime/protocol';
import type { MaybePromise } from '../../contracts/workspace.ts';
import type { HeldFolder } from '../descriptors/held-folder.ts';
import { checkOutputPath, openOutput } from './output-path.ts';

export interface RecordedOutput {
  readonly path: string;
  /** `sha256:` + hex. */
  readonly digest: string;
}

/**
 * Throws E_VALIDATION_FAIL for a path that is no output, and E_POLICY for other bytes than recorded: before the first
 * piece, or after the last one when they changed in between.
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
