/**
 * A workspace that changes nothing and notes what it is asked to change.
 *
 * It answers every mutation as the real one would without interference. What it cannot foresee exactly it refuses: the call
 * then simply cannot be compared after a crash. Each path may be changed once, because reads show it as it is now.
 */

import type { ExpectedChange } from '../../contracts/rehearsal.ts';
import type {
  CopyOptions,
  FileChange,
  FileSnapshot,
  MoveOptions,
  TreeChange,
  Workspace,
} from '../../contracts/workspace.ts';
import { sha256Hex } from '../../platform/digest.ts';
import { fileContent, MISSING, type PathReading, readPath } from './read-path.ts';

const NEW_FILE_MODE = 0o644;

/** Told the content that a file would get; null for one that would go. */
export type WatchWrites = (path: string, bytes: Uint8Array | null) => void;

/** With a watcher, folders may be made too: it looks at contents and compares nothing afterwards. */
export function rehearsedWorkspace(
  workspace: Workspace,
  expect: (change: ExpectedChange) => void,
  watch?: WatchWrites,
): Workspace {
  const touched: string[] = [];

  function note(path: string, before: PathReading, after: string): void {
    const plain = plainPath(path);
    if (touched.some((other) => overlaps(plain, other))) throw unforeseen(path);
    touched.push(plain);
    expect({ subject: `path:${path}`, before: before.exact, after });
  }

  async function transfer(from: string, to: string, options: MoveOptions) {
    const [source, target] = [await readPath(workspace, from), await readPath(workspace, to)];
    const { stat } = source;
    if (stat === null || stat.type === 'other' || overlaps(plainPath(from), plainPath(to))) throw unforeseen(from);
    if (target.stat !== null && (!options.overwrite || target.stat.type !== stat.type)) throw unforeseen(to);
    if (target.stat?.identity === stat.identity) throw unforeseen(to);
    return { source, target, figures: { entries: source.entries, bytes: source.bytes } };
  }

  return {
    stat: (path) => workspace.stat(path),
    readFile: (path, options) => workspace.readFile(path, options),
    readDirectory: (path) => workspace.readDirectory(path),
    list: (query) => workspace.list(query),
    search: (query) => workspace.search(query),
    lockKeys: (path) => workspace.lockKeys(path),
    requireAllowed: (path, access, links) => workspace.requireAllowed(path, access, links),
    async writeFile(path, bytes, options = {}) {
      const before = await readPath(workspace, path);
      const isTaken = before.stat !== null && (options.exclusive === true || before.stat.type !== 'file');
      const isExpected = options.expectedSha256 === undefined || options.expectedSha256 === before.sha256;
      if (isTaken || !isExpected) throw unforeseen(path);
      const keptMode = options.forceMode === true ? undefined : before.stat?.mode;
      const mode = keptMode ?? options.mode ?? NEW_FILE_MODE;
      const after = { sha256: sha256Hex(bytes), size: bytes.length, mode };
      note(path, before, fileContent(mode, after.sha256));
      watch?.(path, bytes);
      return { path, before: snapshotOf(before), after };
    },
    async removeFile(path, options = {}) {
      const before = await readPath(workspace, path);
      if (options.expectedSha256 !== undefined && options.expectedSha256 !== before.sha256) throw unforeseen(path);
      note(path, before, MISSING.content);
      if (before.stat?.type === 'file') watch?.(path, null);
      return before.stat === null ? null : removal(path, before);
    },
    makeDirectory(path) {
      // Its mode depends on the process.
      if (watch === undefined) throw unforeseen(path);
      return null;
    },
    async move(from, to, options) {
      const { source, target, figures } = await transfer(from, to, options);
      note(from, source, MISSING.content);
      note(to, target, source.content);
      return { changes: [removal(from, source), arrival(to, target, source)], ...figures };
    },
    async copy(from, to, options: CopyOptions) {
      const { source, target, figures } = await transfer(from, to, options);
      // Other modes inside a tree, and links, would have to be worked out entry by entry.
      const isFile = source.stat?.type === 'file';
      if (source.hasLinks || (!isFile && !options.preserveMode)) throw unforeseen(from);
      const isKept = options.preserveMode || source.sha256 === null;
      note(to, target, isKept ? source.content : fileContent(NEW_FILE_MODE, source.sha256 ?? ''));
      return { changes: [arrival(to, target, source)], ...figures };
    },
    async remove(path, { recursive }): Promise<TreeChange | null> {
      const before = await readPath(workspace, path);
      if (before.stat?.type === 'directory' && before.entries > 1 && !recursive) throw unforeseen(path);
      note(path, before, MISSING.content);
      if (before.stat === null) return null;
      if (before.stat.type === 'file') watch?.(path, null);
      return { changes: [removal(path, before)], entries: before.entries, bytes: before.bytes };
    },
  };
}

function removal(path: string, before: PathReading): FileChange {
  return { path, before: snapshotOf(before), after: null };
}

function arrival(path: string, before: PathReading, after: PathReading): FileChange {
  return { path, before: snapshotOf(before), after: snapshotOf(after) };
}

function snapshotOf({ stat, sha256, bytes }: PathReading): FileSnapshot | null {
  if (stat === null) return null;
  const { type, mode } = stat;
  return { sha256, size: bytes, mode, ...(type === 'file' ? {} : { type }) };
}

function plainPath(path: string): string {
  return path
    .split('/')
    .filter((part) => part !== '' && part !== '.')
    .join('/');
}

/** One is the other, or lies below it. Names that lead upwards may be anything. */
function overlaps(one: string, other: string): boolean {
  return (
    `${one}/`.startsWith(`${other}/`) || `${other}/`.startsWith(`${one}/`) || /(?:^|\/)\.\.(?:\/|$)/.test(one + other)
  );
}

function unforeseen(path: string): TypeError {
  return new TypeError(`The outcome cannot be foreseen: ${path}`);
}
