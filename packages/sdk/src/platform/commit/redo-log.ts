/**
 * What is needed to finish a commit after a kill: one file in the state folder for each commit under way, named after its
 * owner and after the process that began it, whose files may hold the content. It gets its final name when it is whole; from
 * then on the commit counts. A file whose owner is dead is worked off.
 *
 * First line: the changes as JSON. Then the new content, one after the other.
 */
import { randomUUID } from 'node:crypto';
import { closeSync, constants, mkdirSync, openSync, readFileSync, renameSync, rmSync, writeSync } from 'node:fs';
import { join } from 'node:path';
import { isToolError } from '@tool-runtime/protocol';
import { type PathState, type StagedChange, sameState } from '../../changes/change-set.ts';
import { listOwnEntries } from '../descriptors/directory-entry.ts';
import { createDisk, type Disk } from '../descriptors/disk.ts';
import { openRoot, type Root } from '../descriptors/root.ts';
import { inState } from '../descriptors/state-safety.ts';
import { errnoCode } from '../errno-error.ts';
import { isOwnerDead, OWN_TAG } from '../processes/process-identity.ts';
import type { PlannedChange } from './apply-steps.ts';
import { performChanges } from './commit-changes.ts';
import { HeldFolders, lookAt } from './held-folders.ts';

export interface RedoLog {
  /** From here on the commit will be finished, by us or by the next process that looks. */
  begin(planned: readonly PlannedChange[]): { done(): void };
  /** Finishes what dead processes left. */
  workOff(options?: { readonly noteFolder?: Root['noteFolder'] }): Promise<readonly FinishedCommit[]>;
  /** Commits of dead processes that could not be finished, for a report. */
  left(): readonly string[];
}

export interface FinishedCommit {
  readonly paths: readonly string[];
  /** Changed by others since: these were left as they are. */
  readonly skipped: readonly string[];
}

const FOLDER = 'commits';
const UNFINISHED = '.part';
const NEWLINE = 10;

interface RecordedChange {
  /** Left out: that of the change before. */
  readonly root: string | undefined;
  readonly path: string;
  readonly before: PathState;
  readonly after: PathState;
  /** Where the content is: behind the first line, or in a file. */
  readonly at?: number;
  readonly length?: number;
  /** Absolute, or a name alone: in the folder of the last one that is absolute. */
  readonly file?: string;
}

export function createRedoLog(state: string, disk: Disk = createDisk()): RedoLog {
  const folder = join(state, FOLDER);
  return {
    begin(planned) {
      const me = OWN_TAG ?? process.pid;
      const path = join(folder, `${me}_${me}_${randomUUID()}`);
      inState(() => {
        try {
          mkdirSync(folder, { recursive: true, mode: 0o700 });
          writeRecord(`${path}${UNFINISHED}`, planned, disk);
          renameSync(`${path}${UNFINISHED}`, path);
          disk.settleNow(folder);
        } catch (thrown) {
          // It would take space on a full disk, or be worked off later although its commit was given up.
          for (const left of [`${path}${UNFINISHED}`, path]) rmSync(left, { force: true });
          throw thrown;
        }
      });
      return { done: () => rmSync(path, { force: true }) };
    },
    async workOff({ noteFolder } = {}) {
      const finished: FinishedCommit[] = [];
      for (const name of lostIn(folder)) {
        const claimed = claim(folder, name);
        if (claimed === undefined) continue;
        try {
          if (!name.endsWith(UNFINISHED)) finished.push(await finish(readRecord(claimed), disk, noteFolder));
          rmSync(claimed, { force: true });
        } catch (thrown) {
          // A full disk, a missing permission: it stays on the list, and the next look tries again.
          renameSync(claimed, join(folder, name));
          if (errnoCode(thrown) === undefined && !isToolError(thrown)) throw thrown;
        }
      }
      return finished;
    },
    left: () => lostIn(folder).filter((name) => !name.endsWith(UNFINISHED)),
  };
}

function lostIn(folder: string): readonly string[] {
  return recordsIn(folder).filter((name) => isOwnerDead(name.split('_')[0] ?? ''));
}

function recordsIn(folder: string): readonly string[] {
  try {
    const fd = openSync(folder, constants.O_RDONLY | constants.O_DIRECTORY);
    try {
      return listOwnEntries(fd).map(({ name }) => String(name));
    } finally {
      closeSync(fd);
    }
  } catch (thrown) {
    if (errnoCode(thrown) === 'ENOENT') return [];
    throw thrown;
  }
}

/** Tags of the processes that began a commit which is not finished: their files are still needed. */
export function unfinishedMakers(state: string): ReadonlySet<string> {
  return new Set(recordsIn(join(state, FOLDER)).map((name) => name.split('_')[1] ?? ''));
}

/** Only one process finishes a commit. Undefined when another one was faster. */
function claim(folder: string, name: string): string | undefined {
  const claimed = join(folder, `${OWN_TAG ?? process.pid}_${name.slice(name.indexOf('_') + 1)}`);
  try {
    renameSync(join(folder, name), claimed);
    return claimed;
  } catch (thrown) {
    if (errnoCode(thrown) === 'ENOENT') return undefined;
    throw thrown;
  }
}

function writeRecord(file: string, planned: readonly PlannedChange[], disk: Disk): void {
  const contents: Uint8Array[] = [];
  let at = 0;
  const former = { root: '', folder: '' };
  const changes = planned.map(({ folders, path, before, after, source }): RecordedChange => {
    const root = folders.root.path === former.root ? undefined : folders.root.path;
    former.root = folders.root.path;
    if (source === undefined || after.kind !== 'file') return { root, path, before, after };
    if ('file' in source) {
      const folder = source.file.slice(0, source.file.lastIndexOf('/') + 1);
      const isBeside = folder === former.folder;
      former.folder = folder;
      return { root, path, before, after, file: isBeside ? source.file.slice(folder.length) : source.file };
    }
    contents.push(source.bytes);
    at += source.bytes.length;
    return { root, path, before, after, at: at - source.bytes.length, length: source.bytes.length };
  });
  const fd = openSync(file, 'wx', 0o600);
  try {
    for (const bytes of [Buffer.from(`${JSON.stringify(changes)}\n`), ...contents]) {
      for (let done = 0; done < bytes.length; ) done += writeSync(fd, bytes, done);
    }
    disk.contentNow(fd);
  } finally {
    closeSync(fd);
  }
}

type FoundChange = StagedChange & { readonly root: string };

function readRecord(path: string): readonly FoundChange[] {
  const bytes = readFileSync(path);
  const start = bytes.indexOf(NEWLINE) + 1;
  const changes = JSON.parse(bytes.toString('utf8', 0, start)) as readonly RecordedChange[];
  const former = { root: '', folder: '' };
  return changes.map(({ root = former.root, at, length = 0, file, ...own }) => {
    const change = { ...own, root };
    former.root = root;
    if (file !== undefined) {
      const name = file.slice(file.lastIndexOf('/') + 1);
      if (name !== file) former.folder = file.slice(0, -name.length);
      return { ...change, source: { file: `${former.folder}${name}` } };
    }
    if (at === undefined) return change;
    return { ...change, source: { bytes: bytes.subarray(start + at, start + at + length) } };
  });
}

/** What is done already is left, and so is what others changed since. */
async function finish(
  changes: readonly FoundChange[],
  disk: Disk,
  noteFolder: Root['noteFolder'],
): Promise<FinishedCommit> {
  const held = new Map<string, HeldFolders>();
  try {
    const toDo: PlannedChange[] = [];
    const skipped: string[] = [];
    for (const { root, ...change } of changes) {
      const folders = held.get(root) ?? new HeldFolders(openRoot(root, { noteFolder }));
      held.set(root, folders);
      const seen = await lookAt(folders.find(change.path));
      if (sameState(seen.state, change.after)) continue;
      if (isBetween(change, seen.state)) toDo.push({ ...change, before: seen.state, folders, seen });
      else skipped.push(change.path);
    }
    await performChanges(toDo, disk);
    return { paths: changes.map(({ path }) => path), skipped };
  } finally {
    for (const folders of held.values()) {
      folders.close();
      folders.root.close();
    }
  }
}

/** As before, or taken away and not yet replaced, or a folder that has not got its mode yet. */
function isBetween({ before, after }: StagedChange, state: PathState): boolean {
  if (sameState(state, before)) return true;
  if (state.kind === 'folder' && after.kind === 'folder') return true;
  return state.kind === 'absent' && before.kind !== after.kind;
}
