/**
 * The folder of a run: `<base>/tools/<tool>/<run id>` with a pack, `<base>/runs/<tool>/<run id>` without.
 *
 * Below the base no link is followed and every folder is private (0700). The last one is made in one step that fails
 * when the name exists, which is what makes a run id unique among all processes. It stays open, so that results and
 * outputs are read and written in the folder that was made, not in whatever its name leads to later.
 */
import { closeSync, fstatSync, mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { ToolError } from '@tool-runtime/protocol';
import { isExternalToolName, isRunId } from '../../contracts/external.ts';
import {
  type DirectoryEntry,
  listOwnEntries,
  makeDirectory,
  openSubdirectory,
  setDirectoryMode,
} from '../descriptors/directory-entry.ts';
import { type HeldFolder, openBase, openBelow, pathOf } from '../descriptors/held-path.ts';
import { errnoCode } from '../errno-error.ts';
import { removeTree } from '../files/remove-tree.ts';
import { Pace } from '../pace.ts';

export interface RunFolder extends HeldFolder {
  readonly runId: string;
  /** For people and for mounts; real as of now. */
  readonly path: string;
  close(): void;
}

export interface RunPlace {
  /** Trusted; made when missing. */
  readonly base: string;
  readonly tool: string;
  readonly withPack: boolean;
}

const PRIVATE = 0o700;
const WRITABLE_BY_OTHERS = 0o022;
const MAX_TRIES = 100;
const SECTIONS = [
  { name: 'tools', withPack: true },
  { name: 'runs', withPack: false },
] as const;

/** Throws E_VALIDATION_FAIL for a bad name, E_POLICY for a link on the way, E_FILE_IO for the rest. */
export function createRunFolder(options: RunPlace & { readonly ids: { next(): string } }): RunFolder {
  checkNames(options.tool);
  return explained(() => {
    mkdirSync(options.base, { recursive: true, mode: PRIVATE });
    return inFolder(openBase(options.base), (baseFd) =>
      inFolder(makePrivate({ dirFd: baseFd, name: sectionOf(options.withPack) }), (sectionFd) =>
        inFolder(makePrivate({ dirFd: sectionFd, name: options.tool }), (toolFd) => makeRun(toolFd, options.ids)),
      ),
    );
  });
}

/** An earlier run's folder; undefined when there is none. Same errors as `createRunFolder`. */
export function openRunFolder(place: RunPlace & { readonly runId: string }): RunFolder | undefined {
  checkNames(place.tool, place.runId);
  return openIfThere(place.base, [sectionOf(place.withPack), place.tool, place.runId], (fd) => held(fd, place.runId));
}

/** Path of the newest run, blank when there is none. */
export function latestRunFolder(place: RunPlace): string {
  checkNames(place.tool);
  const answer = openIfThere(place.base, [sectionOf(place.withPack), place.tool], (toolFd) => {
    const [newest] = runIdsIn(toolFd);
    const path = newest === undefined ? '' : join(pathOf(toolFd), newest);
    closeSync(toolFd);
    return path;
  });
  return answer ?? '';
}

export interface ListedRun {
  readonly tool: string;
  readonly withPack: boolean;
  readonly runId: string;
  readonly path: string;
}

/** Every run of every tool, newest first. Folders with other names are skipped. */
export function listRuns({ base }: { readonly base: string }): ListedRun[] {
  const runs = SECTIONS.flatMap(({ name, withPack }) =>
    namesIn(base, [name], isExternalToolName).flatMap((tool) =>
      runIdsOf({ base, tool, withPack }).map((runId) => ({
        tool,
        withPack,
        runId,
        path: join(base, name, tool, runId),
      })),
    ),
  );
  return runs.sort((a, b) => (a.runId === b.runId ? compare(a.tool, b.tool) : compare(b.runId, a.runId)));
}

/** Run ids of one tool, newest first. */
export function runIdsOf({ base, tool, withPack }: RunPlace): string[] {
  checkNames(tool);
  return namesIn(base, [sectionOf(withPack), tool], isRunId).sort((a, b) => compare(b, a));
}

/** False when there is no such run. Nothing behind a link is touched. */
export async function removeRun(place: RunPlace & { readonly runId: string }): Promise<boolean> {
  checkNames(place.tool, place.runId);
  const run = openRunFolder(place);
  if (run === undefined) return false;
  run.close();
  const toolFd = openIfThere(place.base, [sectionOf(place.withPack), place.tool], (fd) => fd);
  if (toolFd === undefined) return false;
  try {
    await removeTree({ dirFd: toolFd, name: place.runId }, new Pace(undefined));
    return true;
  } catch (thrown) {
    throw explain(thrown);
  } finally {
    closeSync(toolFd);
  }
}

function sectionOf(withPack: boolean): string {
  return withPack ? 'tools' : 'runs';
}

function compare(a: string, b: string): number {
  return a < b ? -1 : Number(a > b);
}

function checkNames(tool: string, runId?: string): void {
  if (!isExternalToolName(tool)) throw invalidName('tool');
  if (runId !== undefined && !isRunId(runId)) throw invalidName('run_id');
}

function invalidName(field: string): ToolError {
  return new ToolError('E_VALIDATION_FAIL', `Not a name of a run folder: ${field}`, {
    path: field,
    details: { reason: 'invalid_name', field },
  });
}

function inFolder<Answer>(fd: number, act: (fd: number) => Answer): Answer {
  try {
    return act(fd);
  } finally {
    closeSync(fd);
  }
}

/** Opens the folder, making it first when it is missing; the caller closes it. */
function makePrivate(entry: DirectoryEntry): number {
  const isNew = makeDirectory(entry, PRIVATE);
  const fd = openSubdirectory(entry);
  try {
    if (isNew) setDirectoryMode(fd, PRIVATE);
    const { uid, mode } = fstatSync(fd);
    if (uid === process.geteuid?.() && (mode & WRITABLE_BY_OTHERS) === 0) return fd;
    throw unsafe('others may write to it', 'unsafe_folder');
  } catch (thrown) {
    closeSync(fd);
    throw thrown;
  }
}

function makeRun(toolFd: number, ids: { next(): string }): RunFolder {
  for (let tries = 0; tries < MAX_TRIES; tries++) {
    const runId = ids.next();
    checkRunId(runId);
    if (!makeDirectory({ dirFd: toolFd, name: runId }, PRIVATE)) continue;
    const fd = openSubdirectory({ dirFd: toolFd, name: runId });
    setDirectoryMode(fd, PRIVATE);
    return held(fd, runId);
  }
  throw new ToolError('E_FILE_IO', `No free run folder after ${MAX_TRIES} tries`, {
    details: { reason: 'run_id_collision' },
  });
}

function checkRunId(runId: string): void {
  if (!isRunId(runId)) throw invalidName('run_id');
}

function held(dirFd: number, runId: string): RunFolder {
  let isOpen = true;
  return {
    dirFd,
    runId,
    path: pathOf(dirFd),
    close() {
      // Once: the number may be someone else's file by the next time.
      if (isOpen) closeSync(dirFd);
      isOpen = false;
    },
  };
}

/** `use` takes over the descriptor; undefined when some name on the way does not exist. */
function openIfThere<Answer>(base: string, names: readonly string[], use: (fd: number) => Answer): Answer | undefined {
  return explained(() => {
    let fd: number;
    try {
      fd = inFolder(openBase(base), (baseFd) => openBelow(baseFd, names));
    } catch (thrown) {
      if (errnoCode(thrown) === 'ENOENT') return undefined;
      throw thrown;
    }
    return use(fd);
  });
}

function namesIn(base: string, names: readonly string[], isWanted: (name: string) => boolean): string[] {
  const found = openIfThere(base, names, (fd) => inFolder(fd, () => folderNames(fd, isWanted)));
  return found ?? [];
}

function runIdsIn(toolFd: number): string[] {
  return folderNames(toolFd, isRunId).sort((a, b) => compare(b, a));
}

function folderNames(dirFd: number, isWanted: (name: string) => boolean): string[] {
  return listOwnEntries(dirFd).flatMap(({ name, type }) =>
    type === 'directory' && typeof name === 'string' && isWanted(name) ? [name] : [],
  );
}

function explained<Answer>(act: () => Answer): Answer {
  try {
    return act();
  } catch (thrown) {
    throw explain(thrown);
  }
}

/** The path stays out of it: it names the user. */
function explain(thrown: unknown): unknown {
  const code = errnoCode(thrown);
  if (code === undefined) return thrown;
  if (code === 'ELOOP' || code === 'ENOTDIR') return unsafe('a name on the way is a link or no folder', 'link', thrown);
  return new ToolError('E_FILE_IO', `Run folder cannot be used: ${code}`, { details: { reason: code }, cause: thrown });
}

function unsafe(problem: string, reason: string, cause?: unknown): ToolError {
  return new ToolError('E_POLICY', `Run folder is not safe: ${problem}`, {
    details: { reason, next: 'Remove what is in the way below the folder of runs' },
    ...(cause === undefined ? {} : { cause }),
  });
}
