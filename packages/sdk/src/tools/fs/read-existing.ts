/** A file that may be missing, whole up to a bound. */
import { isToolError } from '@tool-runtime/protocol';
import type { ToolContext } from '../../contracts/tool.ts';
import type { FileContent } from '../../contracts/workspace.ts';

/** Undefined when there is no such file. */
export async function readExisting(
  path: string,
  context: ToolContext,
  maxBytes: number,
): Promise<FileContent | undefined> {
  try {
    return await context.workspace.readFile(path, { maxBytes, signal: context.signal });
  } catch (thrown) {
    if (isToolError(thrown) && thrown.code === 'E_FILE_IO' && thrown.details['reason'] === 'ENOENT') return undefined;
    throw thrown;
  }
}
