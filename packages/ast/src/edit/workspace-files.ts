/**
 * The files of a workspace as one plan sees them: listed once, each read when first asked for and then kept.
 *
 * Planning by scope asks without waiting, so what a workspace reads only with a promise is read ahead: its large files,
 * or all of them when it answers nothing at once.
 */
import { isToolError } from '@tool-runtime/protocol';
import type { FileContent, Workspace } from '@tool-runtime/sdk';
import type { CodeIndex } from '../contracts/code-index-contract.ts';
import { PARSE_LIMITS } from '../parse/limits.ts';
import type { ProjectFiles } from '../scope/scope-model.ts';
import { throwIfAborted } from './edit-failures.ts';

export interface WorkspaceFilesOptions {
  readonly workspace: Pick<Workspace, 'list' | 'readFile'>;
  readonly index: Pick<CodeIndex, 'fileRow'>;
  readonly signal?: AbortSignal | undefined;
}

const MAX_FILES = 200_000;
/** What workspaces answer at once. */
const SMALL_BYTES = 512 * 1024;
/** Kept for the plan; beyond that files are read again. */
const MAX_KEPT_BYTES = 256 * 1024 * 1024;

export async function openWorkspaceFiles(options: WorkspaceFilesOptions): Promise<ProjectFiles> {
  const { workspace, index, signal } = options;
  const query = { globs: [], includeHidden: false, includeIgnored: false, maxResults: MAX_FILES };
  const { paths } = await workspace.list(signal === undefined ? query : { ...query, signal });
  const known = new Set(paths);
  const kept = new Map<string, Uint8Array | undefined>();
  let keptBytes = 0;
  const keep = (path: string, bytes: Uint8Array | undefined) => {
    keptBytes += bytes?.length ?? 0;
    if (keptBytes <= MAX_KEPT_BYTES) kept.set(path, bytes);
    return bytes;
  };
  let isAtOnce = true;
  for (const path of paths) {
    throwIfAborted(signal);
    const isLarge = (index.fileRow(path)?.size ?? 0) > SMALL_BYTES;
    if (isAtOnce && !isLarge && path !== paths[0]) continue;
    const answer = attempt(() => workspace.readFile(path, { maxBytes: PARSE_LIMITS.maxFileBytes + 1 }));
    if (answer instanceof Promise && !isLarge) isAtOnce = false;
    kept.set(path, bytesOf(await settled(answer)));
  }
  return {
    exists: (path) => known.has(path),
    list: () => paths,
    read(path) {
      if (kept.has(path) || !known.has(path)) return kept.get(path);
      const answer = attempt(() => workspace.readFile(path, { maxBytes: PARSE_LIMITS.maxFileBytes + 1 }));
      // It grew since it was indexed, beyond what can be read at once.
      if (answer instanceof Promise) {
        answer.catch(() => {});
        return keep(path, undefined);
      }
      return keep(path, bytesOf(answer));
    },
  };
}

type Answer = FileContent | Promise<FileContent> | undefined;

/** A file that is gone or may not be read counts as absent. */
function attempt(read: () => Answer): Answer {
  try {
    return read();
  } catch (thrown) {
    if (isToolError(thrown)) return undefined;
    throw thrown;
  }
}

async function settled(answer: Answer): Promise<FileContent | undefined> {
  if (!(answer instanceof Promise)) return answer;
  return answer.catch((thrown: unknown) => {
    if (isToolError(thrown)) return undefined;
    throw thrown;
  });
}

function bytesOf(content: FileContent | undefined): Uint8Array | undefined {
  return content?.bytes;
}
