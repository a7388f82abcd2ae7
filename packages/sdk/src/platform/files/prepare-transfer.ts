/**
 * Everything that must be true before something is moved or copied. Changes nothing but the missing folders of the
 * target, and those only once all else is in order.
 */
import type { ToolError } from '@tool-runtime/protocol';
import type { FileSnapshot, MoveOptions } from '../../contracts/workspace.ts';
import { type DirectoryEntry, type FoundEntry, mayChange, typeOf } from '../descriptors/directory-entry.ts';
import type { Disk } from '../descriptors/disk.ts';
import {
  containsSource,
  explained,
  fileError,
  intoItself,
  specialFile,
  targetExists,
  typeDiffers,
} from '../descriptors/file-errors.ts';
import type { Place } from '../descriptors/places.ts';
import { identityOf, type Root } from '../descriptors/root.ts';
import { foldersOf, makeMissingFolders, type WriteTarget } from '../descriptors/write-target.ts';
import { ErrnoError, errnoCode } from '../errno-error.ts';
import type { GoverningFiles } from '../protection/governing-files.ts';
import { folderMissing, judgeBelow } from '../protection/judge-place.ts';
import { sweepLeftovers } from './leftovers.ts';
import { snapshotEntry } from './snapshot-entry.ts';
import { type Survey, surveyEntry } from './survey-tree.ts';
import { isBelow, isSameEntry, openOperand, operandPath } from './tree-operand.ts';

export interface TransferJob<Options extends MoveOptions> {
  readonly from: Place;
  readonly to: Place;
  readonly guard: GoverningFiles;
  readonly options: Options;
}

export interface Transfer {
  readonly root: Root;
  readonly disk: Disk;
  readonly guard: GoverningFiles;
  readonly source: FoundEntry;
  readonly sourcePath: string;
  readonly survey: Survey;
  readonly target: DirectoryEntry;
  readonly targetPath: string;
  /** What will be replaced. */
  readonly replaced: (FoundEntry & { readonly snapshot: FileSnapshot }) | undefined;
}

export interface TransferPlan<T> {
  readonly purpose: 'move' | 'copy';
  /** Source and target are one and the same name. */
  same(targetPath: string): T;
  perform(transfer: Transfer): Promise<T>;
}

export async function withTransfer<T>(job: TransferJob<MoveOptions>, plan: TransferPlan<T>): Promise<T> {
  const from = openOperand(job.from, job.guard, plan.purpose === 'copy' ? { access: 'read' } : {});
  let to: WriteTarget | undefined;
  try {
    to = openOperand(job.to, job.guard);
    const source = explained(job.from.spelling, () => found(from));
    if (isSameEntry(from, to)) return plan.same(operandPath(job.to));
    checkNames(job, source, to);
    if (plan.purpose === 'move') await sweepLeftovers(from.dirFd, Date.now());
    await sweepLeftovers(to.dirFd, Date.now());
    const checked = await checkTrees({ job, purpose: plan.purpose, source, to });
    to = withMissingFolders(to, job.to);
    const done = await performed({ ...checked, target: { dirFd: to.dirFd, name: to.name } }, plan);
    await job.to.disk.settle([...foldersOf(to), ...(plan.purpose === 'move' ? [from.dirFd] : [])]);
    return done;
  } finally {
    from.close();
    to?.close();
  }
}

function found({ dirFd, name, existing }: WriteTarget): FoundEntry {
  if (existing === undefined) throw new ErrnoError('ENOENT');
  return { dirFd, name, stat: existing };
}

function checkNames({ to: place, options }: TransferJob<MoveOptions>, source: FoundEntry, to: WriteTarget): void {
  const path = operandPath(place);
  const isFolder = source.stat.isDirectory();
  explained(place.spelling, () => {
    if (isFolder && isBelow(to.dirFd, identityOf(source.stat))) throw intoItself(path);
    if (to.existing?.isDirectory() && isBelow(source.dirFd, identityOf(to.existing))) throw containsSource(path);
    if (place.path.endsWith('/') && !isFolder) throw new ErrnoError('ENOTDIR');
  });
  if (to.existing !== undefined) {
    if (!options.overwrite) throw targetExists(path);
    if (to.existing.isDirectory() !== isFolder) throw typeDiffers(path);
  }
  if (to.missing.length > 0 && options.createDirs !== true) throw folderMissing(to.missingFolder);
}

function withMissingFolders(to: WriteTarget, place: Place): WriteTarget {
  return to.missing.length === 0 ? to : explained(place.spelling, () => makeMissingFolders(to));
}

async function performed<T>(transfer: Transfer, plan: TransferPlan<T>): Promise<T> {
  try {
    return await plan.perform(transfer);
  } catch (thrown) {
    throw transferError(thrown, transfer);
  }
}

const ABOUT_THE_TARGET = new Set(['ENOSPC', 'EDQUOT', 'EROFS', 'ENOTDIR', 'EISDIR', 'ENOTEMPTY', 'EFBIG']);

/** One system call concerns two paths; the message should name the one that is in the way. */
function transferError(thrown: unknown, { sourcePath, targetPath, target }: Transfer): ToolError {
  const code = errnoCode(thrown) ?? '';
  if (code === 'EEXIST') return targetExists(targetPath);
  const isDenied = code === 'EACCES' || code === 'EPERM';
  const isAboutTarget = ABOUT_THE_TARGET.has(code) || (isDenied && !mayChange(target.dirFd));
  return fileError(thrown, isAboutTarget ? targetPath : sourcePath);
}

interface TreeCheck {
  readonly job: TransferJob<MoveOptions>;
  readonly purpose: 'move' | 'copy';
  readonly source: FoundEntry;
  readonly to: WriteTarget;
}

async function checkTrees(check: TreeCheck): Promise<Omit<Transfer, 'target'>> {
  const { source, purpose } = check;
  const { from, to, guard, options } = check.job;
  const [sourcePath, targetPath] = [operandPath(from), operandPath(to)];
  if (purpose === 'copy' && typeOf(source.stat) === 'other') throw specialFile(sourcePath);
  const rules = { guard, spelling: sourcePath, purpose, signal: options.signal, judge: judgeBoth(check) };
  const survey = await explained(sourcePath, () => surveyEntry(source, rules));
  const replaced = await explained(targetPath, () => findReplaced(check, targetPath));
  return { root: to.root, disk: to.disk, guard, source, sourcePath, survey, targetPath, replaced };
}

/** What is in the tree leaves one place and arrives in another: path rules must allow both. */
function judgeBoth({ job, purpose, source, to }: TreeCheck): ((name: string) => void) | undefined {
  const access = purpose === 'copy' ? 'read' : 'write';
  const leave = judgeBelow(job.from, { dirFd: source.dirFd, below: [source.name] }, access);
  const arrive = judgeBelow(job.to, { dirFd: to.dirFd, below: [...to.missing, to.name] }, 'write');
  if (leave === undefined || arrive === undefined) return undefined;
  return (name) => {
    leave(name);
    arrive(name);
  };
}

async function findReplaced({ to, job }: TreeCheck, spelling: string): Promise<Transfer['replaced']> {
  if (to.existing === undefined) return undefined;
  const entry = { dirFd: to.dirFd, name: to.name, stat: to.existing };
  const { signal } = job.options;
  const judge = judgeBelow(job.to, { dirFd: to.dirFd, below: [to.name] }, 'write');
  const { bytes } = await surveyEntry(entry, { guard: job.guard, spelling, purpose: 'remove', signal, judge });
  return { ...entry, snapshot: await snapshotEntry(entry, { bytes, signal }) };
}
