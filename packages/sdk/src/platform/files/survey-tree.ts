/**
 * A look at a whole tree before anything is done to it: how much there is, and what forbids the operation.
 *
 * It says nothing about what appears in the tree afterwards. Copying checks each name again while it copies; moving
 * and removing rely on this look, because what may be lost there is what was in the tree when the call was checked.
 */
import { type BigIntStats, closeSync, fstatSync } from 'node:fs';
import { isTemporaryName } from '../../contracts/path-text.ts';
import {
  type FoundEntry,
  type InnerEntry,
  type ListedEntry,
  mayChange,
  openSubdirectory,
  statEntry,
} from '../descriptors/directory-entry.ts';
import { listEntries } from '../descriptors/directory-reader.ts';
import { explained, mountedInside, specialFile, tooDeep } from '../descriptors/file-errors.ts';
import { identityOf } from '../descriptors/root.ts';
import { ErrnoError, errnoCode } from '../errno-error.ts';
import { ENTRY_UNITS, Pace } from '../pace.ts';
import type { GoverningFiles, TreeGuard } from '../protection/governing-files.ts';

export interface SurveyRules {
  readonly guard: Pick<GoverningFiles, 'lookAtTree'>;
  /** How the caller spells the folder; what is in the way is named below it. */
  readonly spelling: string;
  /** What will happen to the tree. */
  readonly purpose: 'move' | 'copy' | 'remove';
  readonly signal: AbortSignal | undefined;
  /** Throws E_POLICY for a name in the tree, given from the folder on, that path rules forbid. */
  readonly judge?: ((name: string) => void) | undefined;
}

/** The folder itself counts as an entry. Our own temporary files do not: they go with the tree. */
export interface Survey {
  readonly entries: number;
  readonly bytes: number;
}

/** Every level holds a descriptor (two while copying). */
export const MAX_DEPTH = 500;

interface Progress {
  readonly rules: SurveyRules;
  readonly guard: TreeGuard;
  readonly pace: Pace;
  readonly device: bigint;
  entries: number;
  bytes: number;
}

/** Throws E_POLICY for a protected name anywhere below a folder, E_FILE_IO for what cannot be done. */
export async function surveyEntry(entry: FoundEntry, rules: SurveyRules): Promise<Survey> {
  if (!entry.stat.isDirectory()) return { entries: 1, bytes: entry.stat.isFile() ? Number(entry.stat.size) : 0 };
  const dirFd = openSubdirectory(entry);
  try {
    const guard = rules.guard.lookAtTree(rules.purpose);
    const device = fstatSync(dirFd, { bigint: true }).dev;
    const progress = { rules, guard, pace: new Pace(rules.signal), device, entries: 1, bytes: 0 };
    await surveyFolder(dirFd, { path: rules.spelling, depth: 1 }, progress);
    return { entries: progress.entries, bytes: progress.bytes };
  } finally {
    closeSync(dirFd);
  }
}

interface Position {
  readonly path: string;
  readonly depth: number;
}

async function surveyFolder(dirFd: number, at: Position, progress: Progress): Promise<void> {
  const { purpose, spelling, judge } = progress.rules;
  const own = fstatSync(dirFd, { bigint: true });
  if (at.depth > MAX_DEPTH) throw tooDeep(at.path);
  // A mount inside would be emptied, or left behind, where the rest goes.
  if (purpose !== 'copy' && own.dev !== progress.device) throw mountedInside(at.path);
  const listed = await explained(at.path, () => listEntries(dirFd));
  if (purpose === 'remove' && listed.length > 0) explained(at.path, () => requireChangeable(dirFd));
  for (const entry of listed) {
    if (progress.pace.isDue(ENTRY_UNITS)) await progress.pace.pause();
    if (isTemporaryName(entry.name)) continue;
    const path = `${at.path}/${entry.name}`;
    const stat = statEntry(entry);
    if (stat === undefined) continue;
    progress.guard.checkInner({ folder: identityOf(own), name: String(entry.name), stat }, path);
    judge?.(path.slice(spelling.length + 1));
    if (entry.type === 'directory') await surveyInner(entry, { path, depth: at.depth + 1 }, progress);
    else surveyLeaf(entry, { path, stat }, progress);
  }
}

async function surveyInner(entry: InnerEntry, at: Position, progress: Progress): Promise<void> {
  const dirFd = explained(at.path, () => openInnerDirectory(entry));
  if (dirFd === undefined) return;
  progress.entries += 1;
  try {
    await surveyFolder(dirFd, at, progress);
  } finally {
    closeSync(dirFd);
  }
}

function surveyLeaf(entry: ListedEntry, { path, stat }: { path: string; stat: BigIntStats }, progress: Progress): void {
  if (entry.type === 'other' && progress.rules.purpose === 'copy') throw specialFile(path);
  progress.entries += 1;
  if (stat.isFile()) progress.bytes += Number(stat.size);
}

/** Undefined when it vanished; EAGAIN when something else is there now. */
export function openInnerDirectory(entry: InnerEntry): number | undefined {
  try {
    return openSubdirectory(entry);
  } catch (thrown) {
    const code = errnoCode(thrown);
    if (code === 'ENOENT') return undefined;
    throw code === 'ENOTDIR' || code === 'ELOOP' ? new ErrnoError('EAGAIN') : thrown;
  }
}

/** Entries of our own folders can be removed whatever the mode says, because the mode is ours to change. */
function requireChangeable(dirFd: number): void {
  if (!mayChange(dirFd) && fstatSync(dirFd).uid !== process.geteuid?.()) throw new ErrnoError('EACCES');
}
