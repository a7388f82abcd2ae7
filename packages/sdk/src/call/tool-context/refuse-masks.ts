/**
 * Keeps masks out of files. What a caller read may hold a mask where the file holds a secret; written back, it would
 * replace the secret. Such a write is refused. Where the old file holds no secret, a new mask only gets a warning: the
 * word may be meant.
 */
import { type ErrorEntry, isToolError, ToolError } from '@tool-runtime/protocol';
import type { FileWrite, Workspace } from '../../contracts/workspace.ts';
import { REDACTED } from '../../redaction/find-values.ts';
import type { Redactor } from '../../redaction/redactor.ts';

export function refusingMasks(
  workspace: Workspace,
  { known }: Redactor,
  call: { readonly warnings: ErrorEntry[] },
): Workspace {
  if (known.isEmpty) return workspace;
  const { writeAll } = workspace;
  const check = async (path: string, bytes: Uint8Array): Promise<void> => {
    const masks = masksIn(bytes);
    if (masks === 0) return;
    const old = await contentOf(workspace, path);
    if (masks <= masksIn(old)) return;
    if (known.bytes(old) !== old) throw holdsSecret(path);
    call.warnings.push(looksMasked(path));
  };
  const checkAll = async (files: readonly FileWrite[]): Promise<void> => {
    for (const { path, bytes } of files) if (bytes !== null) await check(path, bytes);
  };
  return {
    ...workspace,
    async writeFile(path, bytes, options) {
      await check(path, bytes);
      return workspace.writeFile(path, bytes, options);
    },
    ...(writeAll === undefined
      ? {}
      : { writeAll: async (files, how) => checkAll(files).then(() => writeAll(files, how)) }),
  };
}

function masksIn(bytes: Uint8Array): number {
  const buffer = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  let count = 0;
  for (let at = buffer.indexOf(REDACTED); at !== -1; at = buffer.indexOf(REDACTED, at + REDACTED.length)) count += 1;
  return count;
}

/** Nothing for a file that does not exist or cannot be read: writing it says what is wrong. */
async function contentOf(workspace: Workspace, path: string): Promise<Uint8Array> {
  try {
    return (await workspace.readFile(path)).bytes;
  } catch (thrown) {
    if (!isToolError(thrown)) throw thrown;
    return new Uint8Array(0);
  }
}

function holdsSecret(path: string): ToolError {
  return new ToolError('E_VALIDATION_FAIL', `Text would replace a secret of the file by its mask: ${path}`, {
    path,
    details: {
      reason: 'masked_secret',
      next: `the file holds a secret that answers show as ${REDACTED}: change only lines without it, for example with file_patch`,
    },
  });
}

function looksMasked(path: string): ErrorEntry {
  return {
    code: 'E_VALIDATION_FAIL',
    message: `Text holds ${REDACTED}, which answers show in place of a secret: ${path}`,
    path,
    details: { reason: 'mask_written', next: 'if the text was copied from an answer, put the real value in its place' },
  };
}
