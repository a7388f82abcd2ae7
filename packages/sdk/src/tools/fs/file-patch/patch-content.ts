/**
 * A diff that came as text, applied to a file in whatever encoding it is.
 *
 * Nothing but the changed lines is ever encoded anew, apart from UTF-16, whose line ends are no single bytes: it goes
 * to UTF-8 and back, which well-formed text survives unchanged.
 */
import { ToolError } from '@tool-runtime/protocol';
import { applyPatch, type PatchedFile } from '../../../text/apply-patch.ts';
import { decodeText, detectEncoding, encodeText, type TextEncoding } from '../../../text/encoding.ts';
import type { FilePatch } from '../../../text/unified-diff.ts';

export interface PatchJob {
  readonly path: string;
  readonly diff: string;
  /** The diff, parsed as UTF-8. */
  readonly patch: FilePatch;
  /** The same patch from the diff in another encoding. */
  reparse(encoded: Buffer): FilePatch;
}

export function patchContent(bytes: Uint8Array, job: PatchJob): PatchedFile {
  const { encoding } = detectEncoding(bytes);
  if (encoding === 'utf-16le' || encoding === 'utf-16be') return patchWide(bytes, encoding, job.patch);
  const hasForeign = encoding === 'latin1' && /[^\0-\x7f]/.test(job.diff);
  return applyPatch(bytes, hasForeign ? latinPatch(job) : job.patch);
}

function patchWide(bytes: Uint8Array, encoding: TextEncoding, patch: FilePatch): PatchedFile {
  const { bytes: patched, hunks } = applyPatch(Buffer.from(decodeText(bytes, encoding) ?? '', 'utf8'), patch);
  return { bytes: encodeText(patched.toString('utf8'), encoding) ?? Buffer.alloc(0), hunks };
}

/** The same patch with its lines in the bytes of the file. */
function latinPatch({ path, diff, reparse }: PatchJob): FilePatch {
  const encoded = encodeText(diff, 'latin1');
  if (encoded === undefined) {
    throw new ToolError('E_FILE_IO', `Diff holds characters the file's encoding (latin1) does not have: ${path}`, {
      path,
      details: { reason: 'encoding', next: 'Use characters up to U+00FF, or convert the file to UTF-8 first' },
    });
  }
  return reparse(encoded);
}
